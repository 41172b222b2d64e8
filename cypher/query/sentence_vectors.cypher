// The packed vectors of the sentences of the chunks with the windows nearest to a vector.
// $corpus, $vector, $entry: the number of windows
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → chunk, vectors
// include: nearest_windows, $entry for $many
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c
RETURN c.id AS chunk, c.sentence_vectors AS vectors
ORDER BY chunk
