// Count the links of a corpus by the labels of the nodes that they lead to.
// $corpus, $label: the label of the nodes, or null for all
// → labels: [label], links
MATCH (e:Entity {corpus: $corpus})-[:REFERS_TO]->(n)
WHERE e.key IS NOT NULL AND ($label IS NULL OR $label IN labels(n))
RETURN labels(n) AS labels, count(*) AS links
ORDER BY labels
