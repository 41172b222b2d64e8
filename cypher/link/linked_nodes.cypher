// Read the names of the nodes with a label that entities of a corpus are linked to.
// $corpus, $label, $name, $aliases: names of properties, the latter may be null
// → name, aliases
MATCH (e:Entity {corpus: $corpus})-[:REFERS_TO]->(n)
WHERE e.key IS NOT NULL AND $label IN labels(n)
WITH DISTINCT n
RETURN n[$name] AS name, n[$aliases] AS aliases
