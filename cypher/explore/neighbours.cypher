// The neighbourhood of an entity: the entities that share most sentences with it, by weight.
// $corpus, $name: of the entity, as written or in lower case, $limit: number of neighbours
// :params {corpus: "sample", name: "Luke Farran", limit: 12}
// → edge
MATCH (e:Entity {corpus: $corpus})
WHERE e.key = toLower($name) OR $name IN e.forms
WITH e ORDER BY e.chunks DESC, e.key LIMIT 1
MATCH edge = (e)-[r:CO_OCCURS]-(:Entity)
WITH edge, r ORDER BY r.weight DESC, elementId(r) LIMIT toInteger($limit)
RETURN edge
