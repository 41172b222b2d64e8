// Read the relationships between nodes of a corpus, without those of soft-deleted nodes.
// $corpus
// → a, type, b, properties
MATCH (a)
WHERE a.corpus = $corpus AND NOT a:E2GRetired
MATCH (a)-[r]->(b)
WHERE b.corpus = $corpus AND NOT b:E2GRetired
RETURN elementId(a) AS a, type(r) AS type, elementId(b) AS b, properties(r) AS properties
