// At most $limit imported summaries, in the order of their ids: the last one, and one that is not in its place in a
// tree; null for none.
// $corpus, $after: an id, $limit
// → last, wrong
MATCH (n:Summary {corpus: $corpus})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH n.id AS id, COUNT { (n)-[:CHILD_OF]->() } > 1 OR COUNT { (n)<-[:CHILD_OF]-() } = 0
     OR EXISTS { (n)<-[:CHILD_OF]-(c)
                 WHERE c.document <> n.document OR c.level <> n.level - 1 OR c.start < n.start OR c.end > n.end } AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
