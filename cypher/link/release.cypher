// Let entities no longer refer to nodes of somebody else's.
// $corpus, $rows: [{key, node}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})-[r:REFERS_TO]->(n)
WHERE elementId(n) = row.node
DELETE r
