// The statements of $documents nearest to a vector; null: all of a corpus. The index is asked, or statements are compared
// one by one, as in `fragments/filtered/nearest_windows`.
// $documents, $overfetch, $corpus, $vector, $many
// → s, score: (1 + cosine) / 2
CALL () {
  WITH $overfetch * $many AS number
  WHERE number > 0
  CALL db.index.vector.queryNodes('e2g_statement_embedding', number, $vector) YIELD node AS s, score
  WHERE s.corpus = $corpus
        AND ($documents IS NULL OR EXISTS { (s)-[:STATED_IN]->(c:Chunk) WHERE c.document IN $documents })
  RETURN collect({node: s, score: score}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $many
  UNWIND indexed AS one
  RETURN one.node AS s, one.score AS score
  UNION ALL
  WITH indexed WHERE size(indexed) < $many
  MATCH (d:Document {corpus: $corpus})
  WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
  MATCH (s:Statement)-[:STATED_IN]->(c:Chunk {corpus: $corpus, document: d.id})
  RETURN s, vector.similarity.cosine(s.embedding, $vector) AS score
}
WITH s, score ORDER BY round(score, 5) DESC, s.id LIMIT $many
