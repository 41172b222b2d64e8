// The chunks that mention two entities, those that mention them most first.
// $corpus
// $first: entity - One entity.
// $second: entity - The other entity.
// $limit: integer - How many chunks at most.
// → document, chunk, text, mentions_of_first, mentions_of_second
MATCH (:Entity {corpus: $corpus, key: $first})-[m:FROM_CHUNK]->(c:Chunk {corpus: $corpus})
MATCH (:Entity {corpus: $corpus, key: $second})-[n:FROM_CHUNK]->(c)
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN d.title AS document, c.index AS chunk, c.text AS text, m.count AS mentions_of_first, n.count AS mentions_of_second
ORDER BY m.count + n.count DESC, document, chunk LIMIT $limit
