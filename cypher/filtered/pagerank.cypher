// Like `query/pagerank`, for filters and for 5.26: with the windows of $documents, null for all. The index, which knows
// neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it finds too
// few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $entry, $names, $seeds, $around, $hub
// → seeds: [[key, weight]], edges: [[key, [key]]]. Each edge is listed once.
MATCH (corpus:Corpus {corpus: $corpus})
CALL () {
  WITH $overfetch * $entry AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  CALL (indexed) {
    WITH indexed WHERE size(indexed) >= $entry
    UNWIND indexed AS one
    RETURN one.window AS w, one.score AS score
    UNION ALL
    WITH indexed WHERE size(indexed) < $entry
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $entry
  RETURN collect(w) AS entry
}
CALL () {
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IN $names AND 0 < e.chunks <= $hub
  RETURN collect(e) AS named
}
CALL (corpus, entry, named) {
  UNWIND entry AS w
  MATCH (w)-[:PART_OF]->(:Chunk)<-[m:FROM_CHUNK]-(e:Entity)
  WHERE m.windows[w.index] > 0
  WITH e, count(*) AS mentioning
  WHERE e.chunks <= $hub AND NOT e IN named
  WITH e, mentioning, log(1 + 1.0 * corpus.chunks / e.chunks) AS rarity
  ORDER BY round(mentioning * rarity, 6) DESC, e.key LIMIT $seeds
  RETURN collect([e, 1.0 * mentioning / size(entry) / e.chunks]) AS mentioned
}
WITH [e IN named | [e, 1.0 / e.chunks]] + mentioned AS seeds
CALL (seeds) {
  UNWIND seeds AS seed
  WITH seed[0] AS e, seed[1] AS weight
  MATCH (e)-[:CO_OCCURS]-(n:Entity)
  WHERE 0 < n.chunks <= $hub
  WITH e, weight, collect(n) AS beside
  UNWIND beside AS n
  WITH n, sum(weight / size(beside)) AS given
  WHERE NOT n IN [seed IN seeds | seed[0]]
  WITH n, given ORDER BY round(given, 9) DESC, n.key LIMIT $around
  RETURN collect(n) AS around
}
WITH seeds, [seed IN seeds | seed[0]] + around AS kept
CALL (kept) {
  UNWIND kept AS e
  MATCH (e)-[:CO_OCCURS]->(n:Entity)
  WHERE n IN kept
  WITH e, collect(n.key) AS others
  RETURN collect([e.key, others]) AS edges
}
RETURN [seed IN seeds | [seed[0].key, seed[1]]] AS seeds, edges
