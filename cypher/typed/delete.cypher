// Delete relationships of the typed graph.
// $corpus, $rows: [{a, type, b}]. a and b: keys of entities
UNWIND $rows AS row
MATCH (a:Entity {corpus: $corpus, key: row.a})-[r]->(b:Entity {corpus: $corpus, key: row.b})
WHERE type(r) = row.type AND r.corpus = $corpus AND r.statements IS NOT NULL
DELETE r
