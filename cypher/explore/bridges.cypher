// The bridges of a corpus: of the 200 names that are mentioned in most chunks, those that connect otherwise unrelated
// entities. Measured by the local clustering coefficient of their 12 strongest neighbours: the fraction of pairs among
// these that share a sentence.
// $corpus
// :params {corpus: "sample"}
// → entity, clustering, neighbours, strongest: [name]
MATCH (e:Entity {corpus: $corpus})
WHERE e.chunks > 1 AND coalesce(e.type <> 'noun', e.name <> toLower(e.name))
WITH e ORDER BY e.chunks DESC, e.key LIMIT 200
CALL (e) {
  MATCH (e)-[r:CO_OCCURS]-(n:Entity)
  WITH n ORDER BY r.weight DESC, n.key LIMIT 12
  RETURN collect(n) AS around
}
WITH e, around
WHERE size(around) = 12
WITH e, around, size(around) * (size(around) - 1) / 2 AS possible
WITH e, around, 1.0 * COUNT {
  UNWIND around AS a
  UNWIND around AS b
  WITH a, b WHERE a.key < b.key
  MATCH (a)-[:CO_OCCURS]-(b)
} / possible AS clustering
ORDER BY clustering, e.chunks DESC, e.key LIMIT 25
RETURN e.name AS entity, round(clustering, 2) AS clustering, COUNT { (e)-[:CO_OCCURS]-() } AS neighbours,
       [n IN around[..6] | n.name] AS strongest
