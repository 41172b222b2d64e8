// Write the vectors of the sentences of visible chunks, unless the chunks were written again meanwhile.
// $corpus, $rows: [{chunk, notes, vectors}]
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.chunk})
WHERE c.notes = row.notes
SET c.sentence_vectors = row.vectors
