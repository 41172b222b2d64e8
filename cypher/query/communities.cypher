// The communities nearest to a question, and the windows nearest to it with the communities whose entities they mention.
// $corpus, $vector, $best, $windows: how many
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → communities: [{id, score, windows: [at]}], candidates: [{chunk, document, index, tokens, persistence, shares,
//   windows: [{number, score, at}]}]. A score is (1 + cosine) / 2; `at` numbers the windows.
CALL () {
  // include: nearest_communities, $best for $many
  RETURN collect(m) AS nearest, collect(score) AS nearness
}
CALL () {
  // include: nearest_windows, $windows for $many
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
  // include: candidates
  RETURN candidates
}
RETURN communities, candidates
