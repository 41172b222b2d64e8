// Like `query/communities`. The indexes do not know corpora: if one finds too few nodes of this corpus, all of the corpus
// are compared.
// $corpus, $vector, $best, $windows: how many
// → communities: [{id, score}], candidates: [{chunk, document, index, tokens, persistence, shares,
//   windows: [{number, score, communities: [id]}]}]. A score is (1 + cosine) / 2.
CALL () {
  CALL db.index.vector.queryNodes('e2g_community_embedding', 5 * $best, $vector) YIELD node AS m, score
  WHERE m.corpus = $corpus
  RETURN collect({node: m, score: score}) AS indexed
}
CALL (indexed) {
  CALL (indexed) {
    WITH indexed WHERE size(indexed) >= $best
    UNWIND indexed AS one
    RETURN one.node AS m, one.score AS score
    UNION ALL
    WITH indexed WHERE size(indexed) < $best
    MATCH (m:Community {corpus: $corpus})
    WHERE m.id IS NOT NULL
    RETURN m, vector.similarity.cosine(m.embedding, $vector) AS score
  }
  WITH m, score ORDER BY round(score, 5) DESC, m.id LIMIT $best
  RETURN collect(m) AS nearest, collect({id: m.id, score: score}) AS communities
}
CALL () {
  CALL db.index.vector.queryNodes('e2g_window_embedding', 5 * $windows, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus
  RETURN collect({node: w, score: score}) AS indexed_windows
}
CALL (nearest, indexed_windows) {
  CALL (indexed_windows) {
    WITH indexed_windows WHERE size(indexed_windows) >= $windows
    UNWIND indexed_windows AS one
    RETURN one.node AS w, one.score AS score
    UNION ALL
    WITH indexed_windows WHERE size(indexed_windows) < $windows
    MATCH (w:Window {corpus: $corpus})
    WHERE w.id IS NOT NULL
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH nearest, w, score ORDER BY round(score, 5) DESC, w.id LIMIT $windows
  MATCH (w)-[:PART_OF]->(c:Chunk)
  WITH c, collect({
    number: w.index, score: score,
    communities: COLLECT {
      MATCH (c)<-[f:FROM_CHUNK]-(:Entity)-[:IN_COMMUNITY]->(m:Community)
      WHERE f.windows[w.index] > 0 AND m IN nearest
      RETURN DISTINCT m.id
    }
  }) AS windows
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: c.document, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence, windows: windows
  }) AS candidates
}
RETURN communities, candidates
