// Link entities to nodes of the user's graph. Entities and nodes that do not exist any more are skipped.
// $corpus, $labels: those of the nodes, each has one of them, $name: the property with their names, $rows: [{key, node, method, score}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})
MATCH (n)
WHERE elementId(n) = row.node AND any(label IN $labels WHERE label IN labels(n))
MERGE (e)-[r:REFERS_TO]->(n)
SET r.method = row.method, r.score = row.score, r.property = $name
