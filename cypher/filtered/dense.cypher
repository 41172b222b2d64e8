// Like `query/dense`, for filters and for 5.26: with the windows of $documents, null for all. The index, which knows
// neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it finds too
// few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $limit
// → chunk, document, index, tokens, shares, persistence, scores: [[window number, score]]. A row for each chunk with
//   such a window, with the share of its text that each of its windows has. A score is (1 + cosine) / 2.
CALL () {
  WITH $overfetch * $limit AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $limit
  UNWIND indexed AS one
  RETURN one.window AS w, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $limit
  MATCH (d:Document {corpus: $corpus})
  WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
  MATCH (w:Window {corpus: $corpus, document: d.id})
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $limit
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH c, collect([w.index, score]) AS scores
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, scores
