// What a visible document contributes to the entity graph, chunk by chunk.
// $corpus, $document
// → chunk, mentions: [{entity, count, sentences}]
MATCH (c:Chunk {corpus: $corpus, document: $document})
OPTIONAL MATCH (e:Entity)-[m:FROM_CHUNK]->(c)
WITH c, e, m ORDER BY c.index, e.name
RETURN c.id AS chunk,
       [mention IN collect({entity: e.name, count: m.count, sentences: m.sentences, windows: m.windows})
        WHERE mention.entity IS NOT NULL] AS mentions
