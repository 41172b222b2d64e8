// At most $limit imported communities, in the order of their ids: the last one, and one that has other entities,
// parents or quotations than a community; null for none.
// $corpus, $after: an id, $limit
// → last, wrong
MATCH (n:Community {corpus: $corpus})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH n.id AS id, n.entities <> COUNT { (n)<-[:IN_COMMUNITY]-() }
     OR n.entities <> COUNT { MATCH (n)<-[:IN_COMMUNITY]-(e) RETURN DISTINCT e }
     OR COUNT { (n)-[:PARENT]->() } > 1 OR EXISTS { (n)-[:PARENT]->(p) WHERE p.level <= n.level }
     OR COUNT { (n)-[:QUOTES]->() } <> COUNT { MATCH (n)-[:QUOTES]->(c) RETURN DISTINCT c } AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
