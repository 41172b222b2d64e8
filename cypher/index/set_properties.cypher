// Replace the properties that the user gave to documents that queries see.
// $corpus, $rows: [{id, properties}]: as they are stored
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.id, state: 'ready'})
FOREACH (name IN [name IN keys(d) WHERE name STARTS WITH 'meta_'] | SET d[name] = null)
SET d += row.properties
