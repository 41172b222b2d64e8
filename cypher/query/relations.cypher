// The relations of entities, and the windows that mention both ends of one, and those nearest to a question.
//
// Relations are co-occurrences: of each entity those with other entities of $keys, then those with the greatest weight,
// $neighbours in all. Of the windows that mention both ends of a relation, the $limit are found that mention most
// relations, those that are among the $limit nearest first. Entities in more than $hub chunks have no relations.
// $corpus, $vector, $keys: entities, $neighbours, $hub, $limit
// $documents: only these, $until: only chunks that end there or before, null: all; $overfetch: how many times as many to
// read from the index, 0: compare one by one
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
RETURN [one IN relations | [one[0].key, one[1].key]] AS relations, candidates
