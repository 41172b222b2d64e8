// The windows nearest to a question, the communities whose entities the nearest of them mention, and how near windows of
// the corpus are on average: of $sample windows in the order of their ids, which are hashes of the text.
// $corpus, $vector, $windows: how many, $tested: how many of them have communities, $sample
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
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
  // include: nearest_windows, $windows for $many
  WITH w, score ORDER BY round(score, 5) DESC, w.id
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
  // include: candidates
  RETURN candidates
}
RETURN mean, deviation, communities, candidates
