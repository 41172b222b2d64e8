// Read the nodes of a corpus, without runs, soft-deleted nodes, and communities, clusters and statements that no query
// sees.
// $corpus
// → key, labels, properties
MATCH (n)
WHERE n.corpus = $corpus AND NOT n:E2GRun AND NOT n:E2GLock AND NOT n:E2GImport AND NOT n:E2GRetired
  AND NOT n:StagedCommunity AND NOT n:OutdatedCommunity AND NOT n:StagedCluster AND NOT n:OutdatedCluster
  AND NOT n:StagedStatement
RETURN elementId(n) AS key, [label IN labels(n) WHERE label <> 'E2GImported'] AS labels,
       n {.*, corpus: null, run: null, import_key: null} AS properties
