// Nodes of somebody else's by label, the next $limit after one, with what they are called. Entities of ours are none.
// $label, $name, $aliases: names of properties, the latter may be null; $after: an element id or '', $limit
// → node, name, aliases
MATCH (n:$($label))
WHERE elementId(n) > $after AND n[$name] IS NOT NULL AND NOT (n:Entity AND n.corpus IS NOT NULL AND n.key IS NOT NULL)
RETURN elementId(n) AS node, n[$name] AS name, n[$aliases] AS aliases
ORDER BY node LIMIT $limit
