// The windows that mention both ends of a relation, the $limit that mention most relations, those that are among the
// nearest first; and the nearest windows.
// $corpus, $vector, $limit
// ← relations, nearest, ids
// → candidates: [{chunk, document, index, tokens, persistence, shares, windows: [{number, score, relations}]}]
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
  // include: candidates
  RETURN candidates
}
