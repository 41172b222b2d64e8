// Read the texts of nodes of the user's graph.
// $nodes: [element id], $text: name of a property
// → node, text
UNWIND $nodes AS node
MATCH (n)
WHERE elementId(n) = node
RETURN node, n[$text] AS text
