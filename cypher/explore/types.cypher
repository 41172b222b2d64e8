// The types of the entities of a corpus, each with its number of entities and the names that are mentioned in most
// chunks.
// $corpus
// :params {corpus: "sample"}
// → type, entities, examples: [name]
MATCH (e:Entity {corpus: $corpus})
WHERE e.chunks > 0
WITH e ORDER BY e.chunks DESC, e.key
WITH coalesce(e.type, 'unknown') AS type, count(e) AS entities, collect(e.name)[..10] AS examples
RETURN type, entities, examples
ORDER BY entities DESC, type
