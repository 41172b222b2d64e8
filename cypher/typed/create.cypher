// Create relationships of the typed graph.
// $corpus, $rows: [{a, type, b, properties: {corpus, statements: [id], count, valid_from, valid_to}}]. a and b: keys of
//   entities; valid_from, valid_to: null for none
UNWIND $rows AS row
MATCH (a:Entity {corpus: $corpus, key: row.a})
MATCH (b:Entity {corpus: $corpus, key: row.b})
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
