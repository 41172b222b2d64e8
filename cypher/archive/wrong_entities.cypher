// At most $limit imported entities, in the order of their keys: the last one, and one that has another number of
// mentions, or edges that are there twice or do not point to a larger key; null for none.
// $corpus, $after: a key, $limit
// → last, wrong
MATCH (n:Entity {corpus: $corpus})
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $limit
WITH n.key AS id, n.chunks <> COUNT { (n)-[:FROM_CHUNK]->() }
     OR n.chunks <> COUNT { MATCH (n)-[:FROM_CHUNK]->(c) RETURN DISTINCT c }
     OR EXISTS { (n)-[:CO_OCCURS]->(e) WHERE e.key <= n.key }
     OR COUNT { (n)-[:CO_OCCURS]->() } <> COUNT { MATCH (n)-[:CO_OCCURS]->(e) RETURN DISTINCT e } AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
