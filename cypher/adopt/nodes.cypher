// Read the next $limit nodes with a label after a node: the key, the sort value and the document of each. The document
// is the value of a property, or the node that a relationship leads to. Nodes of this project are left out.
// $label, $key, $order, $document: names of properties, $part_of: a type of relationship; the last three may be null;
// $after: an element id or '', $limit
// → node, key, order, document, title
MATCH (n:$($label))
WHERE elementId(n) > $after
  AND NOT (n.corpus IS NOT NULL
           AND (n:Document OR n:Chunk OR n:Window OR n:Summary OR n:Entity OR n:Alias OR n:Community OR n:Cluster
                OR n:Statement OR n:Corpus OR n:Term))
WITH n ORDER BY elementId(n) LIMIT $limit
WITH n, COLLECT {
  MATCH (n)-[r]->(d)
  WHERE type(r) = $part_of
  RETURN d ORDER BY elementId(d) LIMIT 1
}[0] AS d
RETURN elementId(n) AS node, n[$key] AS key, n[$order] AS order,
       coalesce(elementId(d), toStringOrNull(n[$document])) AS document,
       coalesce(toStringOrNull(d.name), toStringOrNull(d.title), toStringOrNull(d.path), toStringOrNull(d.fileName),
                toStringOrNull(d.source), toStringOrNull(d.id)) AS title
ORDER BY node
