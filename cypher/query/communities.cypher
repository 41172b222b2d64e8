// The communities nearest to a question, and the windows nearest to it with the communities whose entities they mention.
// $corpus, $vector, $best, $windows: how many
// → communities: [{id, score}], candidates: [{chunk, document, index, tokens, persistence, shares,
//   windows: [{number, score, communities: [id]}]}]. A score is (1 + cosine) / 2.
CYPHER 25
CALL () {
  MATCH (m:Community)
    SEARCH m IN (VECTOR INDEX e2g_community_embedding FOR $vector WHERE m.corpus = $corpus LIMIT $best)
    SCORE AS score
  RETURN collect(m) AS nearest, collect({id: m.id, score: score}) AS communities
}
CALL (nearest) {
  MATCH (w:Window)
    SEARCH w IN (VECTOR INDEX e2g_window_embedding FOR $vector WHERE w.corpus = $corpus LIMIT $windows) SCORE AS score
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
