// Read the relationships between nodes of a corpus that `archive/nodes` returns, without the typed graph.
// $corpus
// → a, type, b, properties
MATCH (a:Document|Chunk|Window|Summary|Entity|Alias|Corpus|Community|Cluster|Statement)
WHERE a.corpus = $corpus
MATCH (a)-[r]->(b:Document|Chunk|Window|Summary|Entity|Alias|Corpus|Community|Cluster|Statement)
WHERE b.corpus = $corpus AND r.statements IS NULL
RETURN elementId(a) AS a, type(r) AS type, elementId(b) AS b, properties(r) AS properties
