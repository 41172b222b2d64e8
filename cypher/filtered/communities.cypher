// Like `query/communities`, for filters and for 5.26: with the windows of $documents, null for all. The index, which
// knows neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it
// finds too few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $best, $windows: how many
// → communities: [{id, score, windows: [at]}], candidates: [{chunk, document, index, tokens, persistence, shares,
//   windows: [{number, score, at}]}]. A score is (1 + cosine) / 2; `at` numbers the windows.
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
  RETURN collect(m) AS nearest, collect(score) AS nearness
}
CALL () {
  WITH $overfetch * $windows AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({node: w, score: score}) AS indexed_windows
}
CALL (indexed_windows) {
  CALL (indexed_windows) {
    WITH indexed_windows WHERE size(indexed_windows) >= $windows
    UNWIND indexed_windows AS one
    RETURN one.node AS w, one.score AS score
    UNION ALL
    WITH indexed_windows WHERE size(indexed_windows) < $windows
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $windows
  RETURN collect(w) AS found, collect(score) AS scores
}
CALL (nearest, nearness, found) {
  CALL (nearest, found) {
    UNWIND range(0, size(found) - 1) AS at
    WITH nearest, at, found[at] AS w
    MATCH (w)-[:PART_OF]->(:Chunk)<-[f:FROM_CHUNK]-(e:Entity)
    WHERE f.windows[w.index] > 0
    WITH nearest, e, collect(at) AS mentioned
    MATCH (e)-[:IN_COMMUNITY]->(m:Community)
    WHERE m IN nearest
    UNWIND mentioned AS at
    WITH m, collect(DISTINCT at) AS windows
    RETURN collect({community: m, windows: windows}) AS having
  }
  UNWIND range(0, size(nearest) - 1) AS place
  WITH nearest[place] AS m, nearness[place] AS score, having
  RETURN collect({
    id: m.id, score: score, windows: coalesce([one IN having WHERE one.community = m | one.windows][0], [])
  }) AS communities
}
CALL (found, scores) {
  UNWIND range(0, size(found) - 1) AS at
  WITH at, found[at] AS w, scores[at] AS score
  MATCH (w)-[:PART_OF]->(c:Chunk)
  WITH c, collect({number: w.index, score: score, at: at}) AS windows
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: c.document, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence, windows: windows
  }) AS candidates
}
RETURN communities, candidates
