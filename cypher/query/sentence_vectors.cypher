// The packed vectors of the sentences of the chunks with the windows nearest to a vector.
// $corpus, $vector, $entry: the number of windows
// $documents: only these, $until: only chunks that end there or before, null: all; $overfetch: how many times as many to
// read from the index, 0: compare one by one
// → chunk, vectors
// include: nearest_windows, $entry for $many
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c
RETURN c.id AS chunk, c.sentence_vectors AS vectors
ORDER BY chunk
