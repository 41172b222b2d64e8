// Link entities to nodes of the user's graph. Entities and nodes that do not exist any more are skipped.
// $corpus, $label: the label of the nodes, $name: the property with their names, $rows: [{key, node, method, score}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})
MATCH (n)
WHERE elementId(n) = row.node AND $label IN labels(n)
MERGE (e)-[r:REFERS_TO]->(n)
SET r.method = row.method, r.score = row.score, r.property = $name
