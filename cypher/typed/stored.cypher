// At most $limit entities in the order of their keys, with what they have of the typed graph.
// $corpus, $after: a key, $limit
// → key, label, relationships: [{type, object, statements, count, valid_from, valid_to}]
MATCH (e:Entity {corpus: $corpus})
WHERE e.key > $after
WITH e ORDER BY e.key LIMIT $limit
RETURN e.key AS key, e.typed_label AS label, COLLECT {
  MATCH (e)-[r]->(object:Entity {corpus: $corpus})
  WHERE r.corpus = $corpus AND r.statements IS NOT NULL
  RETURN {
    type: type(r), object: object.key, statements: r.statements, count: r.count, valid_from: r.valid_from,
    valid_to: r.valid_to
  }
} AS relationships
ORDER BY key
