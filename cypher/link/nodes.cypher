// Read the names of the next $limit nodes with a label after a node. Entities of this project are left out.
// $label, $name, $aliases: names of properties, the latter may be null; $after: an element id or '', $limit
// → node, name, aliases
MATCH (n:$($label))
WHERE elementId(n) > $after AND n[$name] IS NOT NULL AND NOT (n:Entity AND n.corpus IS NOT NULL AND n.key IS NOT NULL)
RETURN elementId(n) AS node, n[$name] AS name, n[$aliases] AS aliases
ORDER BY node LIMIT $limit
