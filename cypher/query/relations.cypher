// The relations of entities, and the windows that mention both ends of one, and those nearest to a question.
//
// Relations are co-occurrences: of each entity those with other entities of $keys, then those with the greatest weight,
// $neighbours in all. Of the windows that mention both ends of a relation, the $limit are found that mention most
// relations, those that are among the $limit nearest first. Entities in more than $hub chunks have no relations.
// $corpus, $vector, $keys: entities, $neighbours, $hub, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → relations: [[key, key]], candidates: [{chunk, document, index, tokens, persistence, shares,
//   windows: [{number, score, relations: [position]}]}]. A score is (1 + cosine) / 2.
CALL () {
  UNWIND $keys AS key
  MATCH (e:Entity {corpus: $corpus, key: key})
  WHERE 0 < e.chunks <= $hub
  CALL (e) {
    MATCH (e)-[r:CO_OCCURS]-(n:Entity)
    WHERE 0 < n.chunks <= $hub
    WITH r ORDER BY n.key IN $keys DESC, round(r.weight, 6) DESC, n.key LIMIT $neighbours
    RETURN r
  }
  WITH DISTINCT r
  RETURN collect([startNode(r), endNode(r)]) AS relations
}
CALL () {
  // include: nearest_windows, $limit for $many
  RETURN collect(w) AS nearest, collect(w.id) AS ids
}
// include: related_windows
RETURN [one IN relations | [one[0].key, one[1].key]] AS relations, candidates
