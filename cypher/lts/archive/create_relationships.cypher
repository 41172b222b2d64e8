// Write relationships of an archive between imported nodes.
// $corpus, $rows: [{a, type, b, properties}]
UNWIND $rows AS row
MATCH (a:E2GImported {corpus: $corpus, import_key: row.a})
MATCH (b:E2GImported {corpus: $corpus, import_key: row.b})
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
