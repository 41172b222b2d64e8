// The shortest path between two entities. A name resolves to the entity with this key, otherwise to the one that is
// mentioned in most chunks of those of which it is an alias.
// $corpus, $a, $b: keys of names, $hops: maximum length of the path, at most 6 edges
// → a, b, names: [name], keys: [key], sentences: [number]. a and b are keys of entities, or null; the others are null if
//   no path is short enough; sentences counts those that each two neighbours on the path share.
WITH COLLECT {
  CALL () {
    MATCH (e:Entity {corpus: $corpus, key: $a})
    RETURN e
    UNION
    MATCH (:Alias {corpus: $corpus, key: $a})-[:ALIAS_OF]->(e:Entity)
    RETURN e
  }
  WITH e
  WHERE e.chunks > 0
  RETURN e ORDER BY e.key <> $a, e.chunks DESC, e.key LIMIT 1
}[0] AS a, COLLECT {
  CALL () {
    MATCH (e:Entity {corpus: $corpus, key: $b})
    RETURN e
    UNION
    MATCH (:Alias {corpus: $corpus, key: $b})-[:ALIAS_OF]->(e:Entity)
    RETURN e
  }
  WITH e
  WHERE e.chunks > 0
  RETURN e ORDER BY e.key <> $b, e.chunks DESC, e.key LIMIT 1
}[0] AS b
CALL (a, b) {
  WITH a, b
  WHERE a.key <> b.key
  MATCH path = shortestPath((a)-[:CO_OCCURS*..6]-(b))
  WITH path
  WHERE length(path) <= $hops
  RETURN collect(path)[0] AS path
}
RETURN a.key AS a, b.key AS b, [n IN nodes(path) | n.name] AS names, [n IN nodes(path) | n.key] AS keys,
       [r IN relationships(path) | r.count] AS sentences
