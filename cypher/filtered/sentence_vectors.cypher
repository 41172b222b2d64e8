// Like `query/sentence_vectors`, within the documents of a filter. Their windows are compared one by
// one if $overfetch is 0. Otherwise the index is asked for $overfetch times as many as are needed, and
// they are compared if it finds too few.
// $documents, $overfetch
// $corpus, $vector, $entry: the number of windows
// → chunk, vectors
CALL () {
  WITH $overfetch * $entry AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND w.document IN $documents
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $entry
  UNWIND indexed AS one
  RETURN one.window AS w, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $entry
  MATCH (w:Window {corpus: $corpus})
  WHERE w.document IN $documents
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $entry
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c
RETURN c.id AS chunk, c.sentence_vectors AS vectors
ORDER BY chunk
