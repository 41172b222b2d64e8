// The entities that share most sentences with an entity, names before nouns, at most $limit, and which of them share
// sentences with each other. Their communities of all levels, the finest first, on a level those with
// most of them; null if the corpus has none.
// $corpus, $key, $limit
// → key, name, type, neighbours: [{key, name, type, weight, sentences}], links: [{a, b, weight, sentences}],
//   communities: [{id, title, level, keys: [key]}]. a and b: keys
MATCH (e:Entity {corpus: $corpus, key: $key})
WHERE e.chunks > 0
CALL (e) {
  MATCH (e)-[r:CO_OCCURS]-(n:Entity)
  WITH n, r ORDER BY coalesce(n.type = 'noun', false), r.weight DESC, n.key LIMIT $limit
  RETURN collect(n) AS near,
         collect({key: n.key, name: n.name, type: n.type, weight: r.weight, sentences: r.count}) AS neighbours
}
CALL (e, near) {
  UNWIND [e] + near AS n
  MATCH (n)-[:IN_COMMUNITY]->(c:Community)
  WITH c, collect(n.key) AS keys
  ORDER BY c.level, size(keys) DESC, c.id
  RETURN collect({id: c.id, title: c.title, level: c.level, keys: keys}) AS communities
}
RETURN e.key AS key, e.name AS name, e.type AS type, neighbours,
       COLLECT {
         UNWIND near AS a
         MATCH (a)-[r:CO_OCCURS]->(b:Entity)
         WHERE b IN near
         RETURN {a: a.key, b: b.key, weight: r.weight, sentences: r.count} ORDER BY r.weight DESC, a.key, b.key
       } AS links,
       CASE WHEN EXISTS { MATCH (c:Community {corpus: $corpus}) WHERE c.id IS NOT NULL }
         THEN communities END AS communities
