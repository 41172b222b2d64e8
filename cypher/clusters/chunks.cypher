// At most $limit chunks that have a text, in the order of their ids. A chunk of an adopted corpus has no vector of its
// own: then there are those of its windows.
// $corpus, $after: an id, $limit
// → chunk, document, index, start, end, tokens, vectors
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after
  AND trim(coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
    // include: their_text
  ][0], '')) <> ''
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS chunk, c.document AS document, c.index AS index, c.start AS start, c.end AS end, c.tokens AS tokens,
       CASE WHEN c.embedding IS NULL
         THEN COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN w.embedding ORDER BY w.index }
         ELSE [c.embedding]
       END AS vectors
ORDER BY chunk
