// In how many sentences, chunks and documents two entities are mentioned together.
// $corpus
// $first: entity - One entity.
// $second: entity - The other entity.
// → first, second, sentences, chunks, documents
MATCH (a:Entity {corpus: $corpus, key: $first})
MATCH (b:Entity {corpus: $corpus, key: $second})
WITH a, b,
     COLLECT { MATCH (a)-[:FROM_CHUNK]->(c:Chunk {corpus: $corpus}) RETURN DISTINCT c.document } AS of_first,
     COLLECT { MATCH (b)-[:FROM_CHUNK]->(c:Chunk {corpus: $corpus}) RETURN DISTINCT c.document } AS of_second
RETURN a.name AS first, b.name AS second,
       coalesce(COLLECT { MATCH (a)-[r:CO_OCCURS]-(b) RETURN r.count }[0], 0) AS sentences,
       COUNT { MATCH (a)-[:FROM_CHUNK]->(:Chunk {corpus: $corpus})<-[:FROM_CHUNK]-(b) } AS chunks,
       size([one IN of_first WHERE one IN of_second]) AS documents
