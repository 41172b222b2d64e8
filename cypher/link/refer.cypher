// Let entities refer to nodes of somebody else's. What is gone meanwhile, on either side, is left out.
// $corpus, $label: theirs, $rows: [{key, node, method, score}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})
MATCH (n)
WHERE elementId(n) = row.node AND $label IN labels(n)
MERGE (e)-[r:REFERS_TO]->(n)
SET r.method = row.method, r.score = row.score
