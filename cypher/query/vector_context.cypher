// The entities whose names are nearest to a question, their relations, and the windows that mention both ends of one.
//
// Relations are co-occurrences: of each of the $entry nearest entities, the $neighbours with the greatest weight. Found
// are the $limit nearest windows, and of those that mention both ends of a relation the $limit that mention most
// relations, those that are among the nearest first. Entities in more than $hub chunks have no relations. The index is
// approximate, so it is asked for $candidates entities.
// $corpus, $vector, $entry, $candidates, $neighbours, $hub, $limit
// $documents: only these, $until: only chunks that end there or before, null: all; $overfetch: how many times as many to
// read from the index, 0: compare one by one
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
CALL (nearest, ids, relations) {
  CALL (nearest, ids, relations) {
    UNWIND range(0, size(relations) - 1) AS position
    WITH ids, position, relations[position][0] AS a, relations[position][1] AS b
    MATCH (a)-[m:FROM_CHUNK]->(c:Chunk)<-[n:FROM_CHUNK]-(b)
    USING JOIN ON c
    // include: of_documents
    UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0 AND n.windows[i] > 0] AS i
    WITH ids, c, i, collect(position) AS positions
    ORDER BY c.id + '-w' + i IN ids DESC, size(positions) DESC, c.id, i LIMIT $limit
    RETURN c, i, positions
    UNION ALL
    UNWIND nearest AS w
    MATCH (w)-[:PART_OF]->(c:Chunk)
    RETURN c, w.index AS i, [] AS positions
  }
  WITH c, i, reduce(all = [], one IN collect(positions) | all + one) AS positions
  MATCH (c)<-[:PART_OF]-(w:Window)
  WHERE w.index = i
  WITH c, collect({
    number: i, score: vector.similarity.cosine(w.embedding, $vector), relations: positions
  }) AS windows
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: d.id, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence, windows: windows
  }) AS candidates
}
RETURN [one IN entities | {key: one.entity.key, score: one.score}] AS entities,
       [one IN relations | [one[0].key, one[1].key]] AS relations, candidates
