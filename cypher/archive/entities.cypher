// Read the vectors of the names of entities.
// $corpus
// → key, name, vector
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND e.embedded_name = e.name AND e.embedding IS NOT NULL
RETURN e.key AS key, e.name AS name, e.embedding AS vector
ORDER BY key
