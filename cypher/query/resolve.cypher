// The entities that names resolve to: the one with this key, otherwise the one that is mentioned in most chunks of those
// of which it is an alias.
// $corpus, $names: keys of names
// → name, entity. `entity` is its key, or null.
UNWIND $names AS name
RETURN name, COLLECT {
  CALL (name) {
    MATCH (e:Entity {corpus: $corpus, key: name})
    RETURN e
    UNION
    MATCH (:Alias {corpus: $corpus, key: name})-[:ALIAS_OF]->(e:Entity)
    RETURN e
  }
  WITH e, name
  WHERE e.chunks > 0
  RETURN e.key ORDER BY e.key <> name, e.chunks DESC, e.key LIMIT 1
}[0] AS entity
