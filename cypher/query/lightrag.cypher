// The entities and relations around a question, and the windows that mention them, in one round trip.
//
// Relations are co-occurrences. The local ones are those of the entities of the question, by the sum of the degrees of
// both ends, then by weight. The global ones have both ends in one of the $entry windows nearest to the vector, by the
// nearest such window, then by weight. There are at most $relations of each. Found are the $nearest nearest windows, and
// of those that mention an entity of the question or an end of a relation the $limit that mention most of these.
// Entities in more than $hub chunks are left out.
// $corpus, $vector, $nearest, $entry, $names, $relations, $hub, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → nearest: [window id], named: [key], local: [[key, key]], global: [[key, key]], candidates: [{chunk, document, index,
//   tokens, persistence, shares, windows: [{number, score, mentioned: [key]}]}]. A score is (1 + cosine) / 2.
CALL () {
  // include: nearest_windows, $nearest for $many
  WITH w, score ORDER BY round(score, 5) DESC, w.id
  RETURN collect(w) AS nearest
}
// include: named_entities
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
    // include: of_documents
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
  // include: candidates
  RETURN candidates
}
RETURN [w IN nearest | w.id] AS nearest, [e IN named | e.key] AS named,
       [one IN local | [one[0].key, one[1].key]] AS local,
       [one IN global | [one[0].key, one[1].key]] AS global, candidates
