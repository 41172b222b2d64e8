// The relationships of a corpus, but not those that lead out of it, or to what was taken out of sight.
// $corpus
// → a, type, b, properties
MATCH (a)
WHERE a.corpus = $corpus AND NOT a:E2GRetired
MATCH (a)-[r]->(b)
WHERE b.corpus = $corpus AND NOT b:E2GRetired
RETURN elementId(a) AS a, type(r) AS type, elementId(b) AS b, properties(r) AS properties
