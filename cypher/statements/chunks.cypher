// At most $limit chunks with their texts and the entities that they mention, in the order of their ids.
// $corpus, $after: an id, $limit
// → chunk, document, index, text, own, notes, entities: [key]
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS chunk, c.document AS document, c.index AS index,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       c.own AS own, c.notes AS notes, COLLECT { MATCH (c)<-[:FROM_CHUNK]-(e:Entity) RETURN e.key } AS entities
ORDER BY chunk
