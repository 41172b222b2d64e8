// The nodes of a corpus, but not who is at work on it, and not what was taken out of sight.
// $corpus
// → key, labels, properties
MATCH (n)
WHERE n.corpus = $corpus AND NOT n:E2GRun AND NOT n:E2GLock AND NOT n:E2GImport AND NOT n:E2GRetired
RETURN elementId(n) AS key, [label IN labels(n) WHERE label <> 'E2GImported'] AS labels,
       n {.*, corpus: null, run: null, import_key: null} AS properties
