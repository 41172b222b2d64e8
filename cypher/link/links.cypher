// List the links of a corpus to nodes of the user's graph.
// $corpus, $labels: those of the nodes, each has one of them, or null for all
// → key, node, method, score, property
MATCH (e:Entity {corpus: $corpus})-[r:REFERS_TO]->(n)
WHERE e.key IS NOT NULL AND ($labels IS NULL OR any(label IN $labels WHERE label IN labels(n)))
RETURN e.key AS key, elementId(n) AS node, r.method AS method, r.score AS score, r.property AS property
ORDER BY key, node
