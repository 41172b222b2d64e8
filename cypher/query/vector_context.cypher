// The entities whose names are nearest to a question, their relations, and the windows that mention both ends of one.
//
// Relations are co-occurrences: of each of the $entry nearest entities, the $neighbours with the greatest weight. Found
// are the $limit nearest windows, and of those that mention both ends of a relation the $limit that mention most
// relations, those that are among the nearest first. Entities in more than $hub chunks have no relations. The index is
// approximate, so it is asked for $candidates entities.
// $corpus, $vector, $entry, $candidates, $neighbours, $hub, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → entities: [{key, score}], relations: [[key, key]], candidates: [{chunk, document, index, tokens, persistence,
//   shares, windows: [{number, score, relations: [position]}]}]. A score is (1 + cosine) / 2.
CALL () {
  // include: nearest_entities, $entry for $many
  WITH e, score WHERE e.chunks > 0
  RETURN collect({entity: e, score: score}) AS entities
}
CALL () {
  // include: nearest_windows, $limit for $many
  RETURN collect(w) AS nearest, collect(w.id) AS ids
}
CALL (entities) {
  UNWIND entities AS one
  WITH one.entity AS e
  WHERE e.chunks <= $hub
  CALL (e) {
    MATCH (e)-[r:CO_OCCURS]-(n:Entity)
    WHERE 0 < n.chunks <= $hub
    WITH r ORDER BY round(r.weight, 6) DESC, n.key LIMIT $neighbours
    RETURN r
  }
  WITH DISTINCT r
  RETURN collect([startNode(r), endNode(r)]) AS relations
}
// include: related_windows
RETURN [one IN entities | {key: one.entity.key, score: one.score}] AS entities,
       [one IN relations | [one[0].key, one[1].key]] AS relations, candidates
