// What the graph has about a question's entities, in one round trip: whether the corpus has documents, which entities
// exist (at most $limit, the rarest first), the distance of each pair, the chunks that mention at least two of them,
// and what the index was made with. A name resolves to the entity with this key, and to up to $meanings entities of
// which it is an alias in some document. Two entities that only the same name resolves to are no pair. Paths longer
// than six edges are ignored.
// $corpus, $names, $limit, $meanings
// → found, made_with: {embedding_model, dimensions, pooling, spacy_model}, named: [{entity: key, names: [name]}],
//   pairs: [{a, b, hops}], shared: [{chunk, document, index, counts: [{entity, count}]}]
OPTIONAL MATCH (made:E2GIndex {name: 'e2g'})
WITH made, EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found
CALL () {
  UNWIND $names AS name
  CALL (name) {
    MATCH (e:Entity {corpus: $corpus, key: name})
    RETURN e
    UNION
    MATCH (:Alias {corpus: $corpus, key: name})-[r:ALIAS_OF]->(e:Entity)
    WITH e, sum(r.count) AS count ORDER BY count DESC, e.key LIMIT $meanings
    RETURN e
  }
  WITH e, collect(name) AS names
  WHERE e.chunks > 0
  WITH e, names ORDER BY e.chunks, e.key LIMIT $limit
  RETURN collect(e) AS entities, collect({entity: e.key, names: names}) AS named
}
CALL (entities, named) {
  UNWIND range(0, size(entities) - 1) AS i
  UNWIND range(0, size(entities) - 1) AS j
  WITH entities[i] AS a, entities[j] AS b, named[i].names AS names, named[j].names AS others
  WHERE a.key < b.key AND NOT (size(names) = 1 AND names = others)
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
RETURN found, made {.embedding_model, .dimensions, .pooling, .spacy_model} AS made_with, named,
       pairs, shared
