// The first and the last chunk of each document that mention an entity.
// $corpus
// $entity: entity - The entity.
// $limit: integer - How many documents at most.
// → document, first_chunk, first_text, last_chunk, last_text
MATCH (:Entity {corpus: $corpus, key: $entity})-[:FROM_CHUNK]->(c:Chunk {corpus: $corpus})
WITH c ORDER BY c.index
WITH c.document AS id, collect(c) AS chunks
MATCH (d:Document {corpus: $corpus, id: id})
RETURN d.title AS document, chunks[0].index AS first_chunk, chunks[0].text AS first_text,
       chunks[-1].index AS last_chunk, chunks[-1].text AS last_text
ORDER BY document LIMIT $limit
