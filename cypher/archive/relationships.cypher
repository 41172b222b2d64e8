// The relationships of a corpus, but not those that lead out of it.
// $corpus
// → a, type, b, properties
MATCH (a)
WHERE a.corpus = $corpus
MATCH (a)-[r]->(b)
WHERE b.corpus = $corpus
RETURN elementId(a) AS a, type(r) AS type, elementId(b) AS b, properties(r) AS properties
