// Add to the edges between entities what chunks contribute whose edges are not counted yet: staged ones, and so many of
// those that are visible. Each sentence of n entities counts one for each pair, and weighs 1 / n. Stored from the
// smaller key to the larger.
// $corpus, $chunks: [id], the staged ones, $visible
CALL () {
  UNWIND $chunks AS chunk
  MATCH (c:StagedChunk {corpus: $corpus, id: chunk})
  RETURN c
  UNION ALL
  MATCH (c:UncountedChunk)
  WHERE c.corpus = $corpus AND c:Chunk AND NOT c:E2GImported
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
MERGE (a)-[r:CO_OCCURS]->(b)
ON CREATE SET r.count = count, r.weight = weight
ON MATCH SET r.count = r.count + count, r.weight = r.weight + weight
