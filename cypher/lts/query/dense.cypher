// Like `query/dense`. The index does not know corpora: if it finds too few windows of this corpus, all windows of the
// corpus are compared.
// $corpus, $vector, $limit
// → chunk, document, index, tokens, shares, persistence, scores: [[window number, score]]. A row for each chunk with
//   such a window, with the share of its text that each of its windows has. A score is (1 + cosine) / 2.
CALL () {
  CALL db.index.vector.queryNodes('e2g_window_embedding', 5 * $limit, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $limit
  UNWIND indexed AS one
  RETURN one.window AS w, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $limit
  MATCH (w:Window {corpus: $corpus})
  WHERE w.id IS NOT NULL
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
}
WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $limit
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH c, collect([w.index, score]) AS scores
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, scores
