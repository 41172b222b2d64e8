// The packed vectors of the sentences of the chunks with the windows nearest to a vector.
// $corpus, $vector, $entry: the number of windows
// → chunk, vectors
CYPHER 25
MATCH (w:Window)
  SEARCH w IN (VECTOR INDEX e2g_window_embedding FOR $vector WHERE w.corpus = $corpus LIMIT $entry) SCORE AS score
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c
RETURN c.id AS chunk, c.sentence_vectors AS vectors
ORDER BY chunk
