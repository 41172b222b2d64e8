// Like `query/sentence_vectors`, for filters and for 5.26: with the windows of $documents, null for all. The index,
// which knows neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if
// it finds too few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $entry: the number of windows
// → chunk, vectors
CALL () {
  WITH $overfetch * $entry AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $entry
  UNWIND indexed AS one
  RETURN one.window AS w, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $entry
  MATCH (d:Document {corpus: $corpus})
  WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
  MATCH (w:Window {corpus: $corpus, document: d.id})
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $entry
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c
RETURN c.id AS chunk, c.sentence_vectors AS vectors
ORDER BY chunk
