// Like `query/lightrag`, for filters and for 5.26: with the windows of $documents, null for all. The index, which knows
// neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it finds too
// few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $nearest, $entry, $names, $relations, $hub, $limit
// → nearest: [window id], named: [key], local: [[key, key]], global: [[key, key]], candidates: [{chunk, document, index,
//   tokens, persistence, shares, windows: [{number, score, mentioned: [key]}]}]. A score is (1 + cosine) / 2.
CALL () {
  WITH $overfetch * $nearest AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  CALL (indexed) {
    WITH indexed WHERE size(indexed) >= $nearest
    UNWIND indexed AS one
    RETURN one.window AS w, one.score AS score
    UNION ALL
    WITH indexed WHERE size(indexed) < $nearest
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $nearest
  RETURN collect(w) AS nearest
}
CALL () {
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IN $names AND 0 < e.chunks <= $hub
  RETURN collect(e) AS named
}
CALL (named) {
  UNWIND named AS e
  MATCH (e)-[r:CO_OCCURS]-(n:Entity)
  WHERE 0 < n.chunks <= $hub
  WITH DISTINCT r, startNode(r) AS a, endNode(r) AS b
  ORDER BY COUNT { (a)-[:CO_OCCURS]-() } + COUNT { (b)-[:CO_OCCURS]-() } DESC, round(r.weight, 6) DESC, a.key, b.key
  LIMIT $relations
  RETURN collect([a, b]) AS local
}
CALL (nearest) {
  UNWIND range(0, size(nearest[..$entry]) - 1) AS place
  WITH nearest[place] AS w, place
  MATCH (w)-[:PART_OF]->(:Chunk)<-[m:FROM_CHUNK]-(e:Entity)
  WHERE m.windows[w.index] > 0 AND e.chunks <= $hub
  WITH place, collect(e) AS mentioned
  UNWIND mentioned AS a
  MATCH (a)-[r:CO_OCCURS]->(b:Entity)
  WHERE b IN mentioned
  WITH a, b, r, min(place) AS place
  ORDER BY place, round(r.weight, 6) DESC, a.key, b.key LIMIT $relations
  RETURN collect([a, b]) AS global
}
CALL (nearest, named, local, global) {
  CALL (nearest, named, local, global) {
    UNWIND named + [one IN local + global | one[0]] + [one IN local + global | one[1]] AS e
    WITH DISTINCT e
    MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
    WHERE $documents IS NULL OR c.document IN $documents
    UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0] AS i
    WITH c, i, collect(e.key) AS mentioned
    ORDER BY size(mentioned) DESC, c.id, i LIMIT $limit
    RETURN c, i, mentioned
    UNION ALL
    UNWIND nearest AS w
    MATCH (w)-[:PART_OF]->(c:Chunk)
    RETURN c, w.index AS i, [] AS mentioned
  }
  WITH c, i, reduce(keys = [], one IN collect(mentioned) | keys + one) AS mentioned
  MATCH (c)<-[:PART_OF]-(w:Window)
  WHERE w.index = i
  WITH c, collect({
    number: i, score: vector.similarity.cosine(w.embedding, $vector), mentioned: mentioned
  }) AS windows
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: d.id, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence, windows: windows
  }) AS candidates
}
RETURN [w IN nearest | w.id] AS nearest, [e IN named | e.key] AS named,
       [one IN local | [one[0].key, one[1].key]] AS local,
       [one IN global | [one[0].key, one[1].key]] AS global, candidates
