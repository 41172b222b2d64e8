// The communities nearest to a vector. The index does not know corpora: if it finds too few of this one, all of the
// corpus are compared.
// $corpus, $vector, $many
// → m, score: (1 + cosine) / 2
CALL () {
  CALL db.index.vector.queryNodes('e2g_community_embedding', 5 * $many, $vector) YIELD node AS m, score
  WHERE m.corpus = $corpus
  RETURN collect({node: m, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $many
  UNWIND indexed AS one
  RETURN one.node AS m, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $many
  MATCH (m:Community {corpus: $corpus})
  WHERE m.id IS NOT NULL
  RETURN m, vector.similarity.cosine(m.embedding, $vector) AS score
}
WITH m, score ORDER BY round(score, 5) DESC, m.id LIMIT $many
