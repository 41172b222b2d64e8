// Like `query/dense`, within the documents of a filter. Their windows are compared one by one if $overfetch is 0.
// Otherwise the index is asked for $overfetch times as many as are needed, and they are compared if it finds too few.
// $documents, $overfetch
// $corpus, $vector, $limit
// → chunk, document, index, tokens, shares, persistence, scores: [[window number, score]]. A row for each chunk with
//   such a window, with the share of its text that each of its windows has. A score is (1 + cosine) / 2.
CALL () {
  WITH $overfetch * $limit AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND w.document IN $documents
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $limit
  UNWIND indexed AS one
  RETURN one.window AS w, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $limit
  MATCH (w:Window {corpus: $corpus})
  WHERE w.document IN $documents
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $limit
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH c, collect([w.index, score]) AS scores
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, scores
