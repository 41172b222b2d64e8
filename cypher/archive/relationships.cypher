// Read the relationships between nodes of a corpus that `archive/nodes` returns.
// $corpus
// → a, type, b, properties
MATCH (a)
WHERE a.corpus = $corpus AND NOT a:E2GRetired AND NOT a:StagedStatement
  AND NOT a:StagedCommunity AND NOT a:OutdatedCommunity AND NOT a:StagedCluster AND NOT a:OutdatedCluster
MATCH (a)-[r]->(b)
WHERE b.corpus = $corpus AND NOT b:E2GRetired AND NOT b:StagedStatement
  AND NOT b:StagedCommunity AND NOT b:OutdatedCommunity AND NOT b:StagedCluster AND NOT b:OutdatedCluster
RETURN elementId(a) AS a, type(r) AS type, elementId(b) AS b, properties(r) AS properties
