// The windows of $documents nearest to a vector; null: all of a corpus. The index, which knows neither documents nor
// corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it finds too few, windows are compared
// one by one.
// If $until is not null, only the windows of chunks that end there or before.
// $documents, $until, $overfetch, $corpus, $vector, $many
// → w, score: (1 + cosine) / 2
CALL () {
  WITH $overfetch * $many AS number
  WHERE number > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', number, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
    AND ($until IS NULL OR EXISTS { (w)-[:PART_OF]->(c:Chunk) WHERE c.end <= $until })
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
  WHERE $until IS NULL OR EXISTS { (w)-[:PART_OF]->(c:Chunk) WHERE c.end <= $until }
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $many
