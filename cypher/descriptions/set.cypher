// Describe entities, or remove their descriptions.
// $corpus, $rows: [{key, description, chunk}]. null: no description
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})
SET e.description = row.description, e.description_chunk = row.chunk
