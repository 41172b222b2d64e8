// Chunks by id with their packed extraction, which has the spans of their sentences.
// $corpus, $chunks: [id]
// → chunk, own, notes, text
UNWIND $chunks AS id
MATCH (c:Chunk {corpus: $corpus, id: id})
RETURN id AS chunk, c.own AS own, c.notes AS notes,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text
