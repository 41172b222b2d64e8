// The co-occurrences of at most $limit entities of visible documents, by their keys. An edge points to the larger key.
// $corpus, $after: a key, $limit
// → key, name, edges: [[key, weight]]
MATCH (a:Entity {corpus: $corpus})
WHERE a.key > $after AND a.name IS NOT NULL
WITH a ORDER BY a.key LIMIT $limit
RETURN a.key AS key, a.name AS name, [(a)-[r:CO_OCCURS]->(b:Entity) | [b.key, r.weight]] AS edges
ORDER BY key
