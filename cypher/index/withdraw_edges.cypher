// Take from the edges between entities what the visible chunks of documents contribute: each sentence of n entities
// counts one for each pair, and weighs 1 / n. An edge without any shared sentence left is removed.
// $corpus, $documents: [id]
UNWIND $documents AS document
MATCH (c:Chunk {corpus: $corpus, document: document})<-[m:FROM_CHUNK]-(e:Entity)
UNWIND m.sentences AS sentence
WITH c, sentence, e ORDER BY e.key
WITH c, sentence, collect(e) AS entities
WHERE size(entities) > 1
UNWIND range(0, size(entities) - 2) AS i
UNWIND range(i + 1, size(entities) - 1) AS j
WITH entities[i] AS a, entities[j] AS b, count(*) AS count, sum(1.0 / size(entities)) AS weight
MATCH (a)-[r:CO_OCCURS]-(b)
SET r.count = r.count - count, r.weight = r.weight - weight
WITH r WHERE r.count <= 0
DELETE r
