// The windows of $documents nearest to a vector; null: all of a corpus. The index, which knows neither documents nor
// corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it finds too few, windows are compared
// one by one.
// $documents, $overfetch, $corpus, $vector, $many
// → w, score: (1 + cosine) / 2
CALL () {
  WITH $overfetch * $many AS number
  WHERE number > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', number, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({node: w, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $many
  UNWIND indexed AS one
  RETURN one.node AS w, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $many
  MATCH (d:Document {corpus: $corpus})
  WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
  MATCH (w:Window {corpus: $corpus, document: d.id})
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $many
