// The documents that mention an entity, those that mention it most first.
// $corpus
// $entity: entity - The entity.
// $limit: integer - How many documents at most.
// → document, source, mentions, chunks
MATCH (:Entity {corpus: $corpus, key: $entity})-[m:FROM_CHUNK]->(c:Chunk {corpus: $corpus})
WITH c.document AS id, sum(m.count) AS mentions, count(c) AS chunks
MATCH (d:Document {corpus: $corpus, id: id})
RETURN d.title AS document, d.source AS source, mentions, chunks
ORDER BY mentions DESC, document LIMIT $limit
