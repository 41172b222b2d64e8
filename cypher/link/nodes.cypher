// Read the names of the next $limit nodes with one of some labels after a node. Nodes of this project are left out.
// $labels, $name, $aliases: names of properties, the latter may be null; $after: an element id or '', $limit
// → node, name, aliases
MATCH (n:$any($labels))
WHERE elementId(n) > $after AND n[$name] IS NOT NULL
  AND NOT (n.corpus IS NOT NULL
           AND (n:Document OR n:Chunk OR n:Window OR n:Summary OR n:Entity AND n.key IS NOT NULL OR n:Alias
                OR n:Community OR n:Cluster OR n:Statement OR n:Corpus OR n:Term))
RETURN elementId(n) AS node, n[$name] AS name, n[$aliases] AS aliases
ORDER BY node LIMIT $limit
