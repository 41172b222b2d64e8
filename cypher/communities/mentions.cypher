// At most $limit chunks with their mentions, in the order of their ids.
// $corpus, $after: an id, $limit
// → chunk, document, index, own, notes, mentions: [[entity, [number of a sentence]]]
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS chunk, c.document AS document, c.index AS index, c.own AS own, c.notes AS notes,
       [(c)<-[m:FROM_CHUNK]-(e:Entity) | [e.key, m.sentences]] AS mentions
ORDER BY chunk
