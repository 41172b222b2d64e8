// Add to the edges between entities what documents now contribute more (or, negative, less) than before.
// An edge without any shared sentence left is removed. Stored from the smaller key to the larger.
// $corpus, $rows: [{a, b, count, weight}], a < b, sorted
UNWIND $rows AS row
MATCH (a:Entity {corpus: $corpus, key: row.a})
MATCH (b:Entity {corpus: $corpus, key: row.b})
MERGE (a)-[r:CO_OCCURS]->(b)
ON CREATE SET r.count = row.count, r.weight = row.weight
ON MATCH SET r.count = r.count + row.count, r.weight = r.weight + row.weight
WITH r WHERE r.count <= 0
DELETE r
