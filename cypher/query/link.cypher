// Everything the graph knows about a question's entities, in one round trip: whether the corpus has documents,
// which entities exist (at most $limit, the rarest first), how far apart each two are, and the chunks that
// mention at least two of them; and what the index was made with. Paths longer than six edges count as none.
// $corpus, $names, $limit
// → found, made_with: {embedding_model, dimensions, pooling, spacy_model}, entities: [key],
//   pairs: [{a, b, hops}], shared: [{chunk, document, index, counts: [{entity, count}]}]
OPTIONAL MATCH (made:E2GIndex {name: 'e2g'})
WITH made, EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found
CALL () {
  UNWIND $names AS name
  MATCH (e:Entity {corpus: $corpus, key: name})
  WHERE e.chunks > 0
  WITH e ORDER BY e.chunks, e.key LIMIT $limit
  RETURN collect(e) AS entities
}
CALL (entities) {
  UNWIND entities AS a
  UNWIND entities AS b
  WITH a, b WHERE a.key < b.key
  MATCH p = shortestPath((a)-[:CO_OCCURS*..6]-(b))
  RETURN collect({a: a.key, b: b.key, hops: length(p)}) AS pairs
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
  WITH c, collect({entity: e.key, count: m.count}) AS counts
  WHERE size(counts) > 1
  RETURN collect({chunk: c.id, document: c.document, index: c.index, counts: counts}) AS shared
}
RETURN found, made {.embedding_model, .dimensions, .pooling, .spacy_model} AS made_with, [e IN entities | e.key] AS entities, pairs, shared
