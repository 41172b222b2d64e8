// The types of a corpus' entities, the most frequent first.
// $corpus
// → type
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND e.type IS NOT NULL
WITH e.type AS type, count(*) AS entities
RETURN type ORDER BY entities DESC, type
