// Write the vectors of the names of entities, unless they have other names meanwhile.
// $corpus, $rows: [{key, name, embedding}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})
WHERE e.name = row.name
SET e.embedded_name = row.name
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'embedding', row.embedding)
