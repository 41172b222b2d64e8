// The entities whose names are nearest to a vector. The index, which does not know corpora, is asked for $candidates: if
// it finds too few of this corpus, all of the corpus are compared.
// $corpus, $vector, $candidates, $many
// → e, score: (1 + cosine) / 2
CALL () {
  CALL db.index.vector.queryNodes('e2g_entity_embedding', $candidates, $vector) YIELD node AS e, score
  WHERE e.corpus = $corpus
  RETURN collect({node: e, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $many
  UNWIND indexed AS one
  RETURN one.node AS e, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $many
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IS NOT NULL AND e.embedding IS NOT NULL
  RETURN e, vector.similarity.cosine(e.embedding, $vector) AS score
}
WITH e, score ORDER BY round(score, 5) DESC, e.key LIMIT $many
