// At most $limit entities that queries see whose name has no vector, in the order of their keys. `missing` is the number
// of all of them after $after.
// $corpus, $after: a key, $limit
// → key, name, missing
MATCH (e:Entity {corpus: $corpus})
WHERE e.key > $after AND e.chunks > 0 AND e.name <> coalesce(e.embedded_name, '')
WITH e ORDER BY e.key
WITH collect(e) AS found
UNWIND found[..$limit] AS e
RETURN e.key AS key, e.name AS name, size(found) AS missing
ORDER BY key
