// Like `query/sentence_vectors`. The vector index does not know corpora: if it finds too few windows of this corpus, all
// windows of the corpus are compared.
// $corpus, $vector, $entry: the number of windows
// → chunk, vectors
CALL () {
  CALL db.index.vector.queryNodes('e2g_window_embedding', 5 * $entry, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $entry
  UNWIND indexed AS one
  RETURN one.window AS w, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $entry
  MATCH (w:Window {corpus: $corpus})
  WHERE w.id IS NOT NULL
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $entry
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c
RETURN c.id AS chunk, c.sentence_vectors AS vectors
ORDER BY chunk
