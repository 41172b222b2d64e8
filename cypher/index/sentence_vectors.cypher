// Read the packed vectors of the own sentences of visible chunks.
// $corpus, $chunks: [id]
// → chunk, vectors
UNWIND $chunks AS chunk
MATCH (c:Chunk {corpus: $corpus, id: chunk})
RETURN chunk, c.sentence_vectors AS vectors
