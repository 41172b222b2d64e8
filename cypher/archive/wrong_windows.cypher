// At most $limit imported windows, in the order of their ids: the last one, and one that is not part of one chunk of
// its document; null for none.
// $corpus, $after: an id, $limit
// → last, wrong
MATCH (n:Window {corpus: $corpus})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH n.id AS id, COUNT { (n)-[:PART_OF]->() } <> 1 OR EXISTS { (n)-[:PART_OF]->(c) WHERE c.document <> n.document } AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
