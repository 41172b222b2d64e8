// The texts of chunks, with their packed extractions and the packed vectors of their own sentences.
// $corpus, $chunks: [id]
// → chunk, text, own, notes, vectors
UNWIND $chunks AS chunk
MATCH (c:Chunk {corpus: $corpus, id: chunk})
RETURN chunk, coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
  // include: their_text
][0], '') AS text,
       c.own AS own, c.notes AS notes, c.sentence_vectors AS vectors
