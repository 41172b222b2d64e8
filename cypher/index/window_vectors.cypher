// Read the vectors of the windows of visible chunks, in order.
// $corpus, $chunks: [id]
// → chunk, vectors
UNWIND $chunks AS chunk
MATCH (c:Chunk {corpus: $corpus, id: chunk})<-[:PART_OF]-(w:Window)
WITH chunk, w ORDER BY w.index
RETURN chunk, collect(w.embedding) AS vectors
