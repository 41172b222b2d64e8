// At most $limit imported statements, in the order of their ids: the last one, and one that is not about an entity in
// one chunk; null for none.
// $corpus, $after: an id, $limit
// → last, wrong
MATCH (n:Statement {corpus: $corpus})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH n.id AS id, COUNT { (n)-[:STATED_IN]->() } <> 1 OR COUNT { (n)-[:SUBJECT]->() } <> 1 OR COUNT { (n)-[:OBJECT]->() } > 1
     OR EXISTS { (n)-[:STATED_IN]->(c) WHERE NOT n.id STARTS WITH c.id + '-r' } AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
