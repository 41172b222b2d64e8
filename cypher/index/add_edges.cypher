// Add the co-occurrences of uncounted chunks to the edges between entities: of staged chunks, and of at most $visible
// of the visible ones. A sentence with n entities adds 1 to the count and 1 / n to the weight of each pair. Edges point
// from the smaller key to the larger. Those of a frequent entity are read once, not for each pair again: MERGE remains
// for those that were not there.
// $corpus, $chunks: [id] of staged chunks, $visible
CALL () {
  UNWIND $chunks AS chunk
  MATCH (c:StagedChunk {corpus: $corpus, id: chunk})
  RETURN c
  UNION ALL
  MATCH (c:UncountedChunk)
  WHERE c.corpus = $corpus AND c:Chunk
  RETURN c LIMIT $visible
}
REMOVE c:UncountedChunk
WITH c
MATCH (c)<-[m:FROM_CHUNK]-(e:Entity)
UNWIND m.sentences AS sentence
WITH c, sentence, e ORDER BY e.key
WITH c, sentence, collect(e) AS entities
WITH entities, size(entities) AS n
WHERE n > 1
UNWIND range(0, n - 2) AS i
UNWIND range(i + 1, n - 1) AS j
WITH entities[i] AS a, entities[j] AS b, count(*) AS count, sum(1.0 / n) AS weight
WITH a, collect({entity: b, count: count, weight: weight}) AS pairs
CALL (a, pairs) {
  WITH pairs, [pair IN pairs | pair.entity] AS others
  MATCH (a)-[r:CO_OCCURS]->(b) WHERE b IN others
  WITH r, b, head([pair IN pairs WHERE pair.entity = b]) AS pair
  SET r.count = r.count + pair.count, r.weight = r.weight + pair.weight
  RETURN collect(b) AS there
}
UNWIND [pair IN pairs WHERE NOT pair.entity IN there] AS pair
WITH a, pair, pair.entity AS b
MERGE (a)-[r:CO_OCCURS]->(b)
ON CREATE SET r.count = pair.count, r.weight = pair.weight
ON MATCH SET r.count = r.count + pair.count, r.weight = r.weight + pair.weight
