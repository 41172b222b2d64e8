// Write relationships of an archive between imported nodes, if these have labels that the type connects.
// $corpus, $rows: [{a, type, b, starts: [label], ends: [label], properties}]
UNWIND $rows AS row
MATCH (a:E2GImported {corpus: $corpus, import_key: row.a})
MATCH (b:E2GImported {corpus: $corpus, import_key: row.b})
WHERE any(label IN labels(a) WHERE label IN row.starts) AND any(label IN labels(b) WHERE label IN row.ends)
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
