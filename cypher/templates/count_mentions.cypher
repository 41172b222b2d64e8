// How often an entity is mentioned, and in how many chunks and documents.
// $corpus
// $entity: entity - The entity.
// → entity, mentions, chunks, documents
MATCH (e:Entity {corpus: $corpus, key: $entity})-[m:FROM_CHUNK]->(c:Chunk {corpus: $corpus})
RETURN e.name AS entity, sum(m.count) AS mentions, count(c) AS chunks, count(DISTINCT c.document) AS documents
