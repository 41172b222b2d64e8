// Read the texts of the next $limit chunks of a corpus.
// $corpus, $after: the id of a chunk or '', $limit
// → chunk, document, text
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS chunk, c.document AS document,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text
ORDER BY chunk
