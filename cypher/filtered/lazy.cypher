// Like `query/lazy`, for filters and for 5.26: with the windows of $documents, null for all. The index, which knows
// neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it finds too
// few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $windows: how many, $tested: how many of them have communities, $sample
// → mean, deviation, communities: [{id, parent, windows: [at]}], candidates: [{chunk, document, index, tokens,
//   persistence, shares, windows: [{number, score, at}]}]. A score is (1 + cosine) / 2; mean and deviation are of
//   those of the sample. No parent: null. `at` numbers the windows.
CALL () {
  MATCH (w:Window {corpus: $corpus})
  WHERE w.id > ''
  WITH w ORDER BY w.id LIMIT $sample
  WITH vector.similarity.cosine(w.embedding, $vector) AS score
  RETURN avg(score) AS mean, stDevP(score) AS deviation
}
CALL () {
  WITH $overfetch * $windows AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({node: w, score: score}) AS indexed
}
CALL (indexed) {
  CALL (indexed) {
    WITH indexed WHERE size(indexed) >= $windows
    UNWIND indexed AS one
    RETURN one.node AS w, one.score AS score
    UNION ALL
    WITH indexed WHERE size(indexed) < $windows
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $windows
  RETURN collect(w) AS nearest, collect(score) AS scores
}
CALL (nearest) {
  UNWIND range(0, size(nearest[..$tested]) - 1) AS at
  WITH at, nearest[at] AS w
  MATCH (w)-[:PART_OF]->(:Chunk)<-[f:FROM_CHUNK]-(e:Entity)
  WHERE f.windows[w.index] > 0
  WITH e, collect(at) AS mentioned
  MATCH (e)-[:IN_COMMUNITY]->(m:Community)
  UNWIND mentioned AS at
  WITH m, collect(DISTINCT at) AS windows
  OPTIONAL MATCH (m)-[:PARENT]->(parent:Community)
  RETURN collect({id: m.id, parent: parent.id, windows: windows}) AS communities
}
CALL (nearest, scores) {
  UNWIND range(0, size(nearest) - 1) AS at
  WITH at, nearest[at] AS w, scores[at] AS score
  MATCH (w)-[:PART_OF]->(c:Chunk)
  WITH c, collect({number: w.index, score: score, at: at}) AS windows
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: c.document, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence, windows: windows
  }) AS candidates
}
RETURN mean, deviation, communities, candidates
