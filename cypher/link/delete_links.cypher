// Remove links from entities to nodes of the user's graph.
// $corpus, $rows: [{key, node}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})-[r:REFERS_TO]->(n)
WHERE elementId(n) = row.node
DELETE r
