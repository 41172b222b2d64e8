// At most $limit visible chunks that lack a vector, or whose windows lack one, in the order of their ids, with all of their
// windows. A chunk of an adopted corpus has no vector of its own.
// $corpus, $after: an id, $limit
// → chunk, start, adopted, text, windows: [[id, start, end]]
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after
  AND (c.text IS NOT NULL AND c.embedding IS NULL
    OR EXISTS { MATCH (c)<-[:PART_OF]-(w:Window) WHERE w.embedding IS NULL })
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS chunk, c.start AS start, c.text IS NULL AS adopted,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN [w.id, w.start, w.end] ORDER BY w.index } AS windows
ORDER BY chunk
