// Subtract the co-occurrences of at most $most visible chunks of documents from the edges between entities, except
// those of unchanged chunks. A sentence with n entities subtracts 1 from the count and 1 / n from the weight of each
// pair. Edges whose count becomes 0 are removed. Edges between two entities that no other chunk mentions are skipped,
// because they are removed with the entities, unless `all` is true. Edges of a frequent entity are read once, not for
// each pair again.
// $corpus, $rows: [{document, chunks: [id] of unchanged chunks, all}], $most
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, document: row.document})
WHERE NOT c:UncountedChunk AND NOT c.id IN row.chunks
WITH c, row LIMIT $most
SET c:UncountedChunk
WITH c, row
MATCH (c)<-[m:FROM_CHUNK]-(e:Entity)
WITH row, e, collect({chunk: c.id, sentences: m.sentences}) AS mentions
WITH e, mentions, row.all OR EXISTS {
  MATCH (e)-[:FROM_CHUNK]->(other)
  WHERE NOT other:Chunk OR other.document <> row.document OR other.id IN row.chunks
} AS stays
UNWIND mentions AS mention
UNWIND mention.sentences AS sentence
WITH mention.chunk AS chunk, sentence, e, stays ORDER BY e.key
WITH chunk, sentence, collect(e) AS entities, collect(stays) AS staying
WITH entities, staying, size(entities) AS n
WHERE n > 1
UNWIND range(0, n - 2) AS i
UNWIND [j IN range(i + 1, n - 1) WHERE staying[i] OR staying[j]] AS j
WITH entities[i] AS a, entities[j] AS b, count(*) AS count, sum(1.0 / n) AS weight
WITH a, collect({entity: b, count: count, weight: weight}) AS pairs
WITH a, pairs, [pair IN pairs | pair.entity] AS others
MATCH (a)-[r:CO_OCCURS]->(b) WHERE b IN others
WITH r, head([pair IN pairs WHERE pair.entity = b]) AS pair
SET r.count = r.count - pair.count, r.weight = r.weight - pair.weight
WITH r WHERE r.count <= 0
DELETE r
