// At most $limit chunks with their text and their mentions of all but common nouns, in the order of their ids.
// $corpus, $after: an id, $limit
// → chunk, document, index, own, notes, text, mentions: [[entity, [number of a sentence]]]
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS chunk, c.document AS document, c.index AS index, c.own AS own, c.notes AS notes,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       [(c)<-[m:FROM_CHUNK]-(e:Entity) WHERE coalesce(e.type, '') <> 'noun' | [e.key, m.sentences]] AS mentions
ORDER BY chunk
