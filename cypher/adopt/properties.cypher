// Read properties of nodes of the user's graph, in the order of their names; null where a node lacks one.
// $nodes: [element id], $names: [name of a property]
// → node, values
UNWIND $nodes AS node
MATCH (n)
WHERE elementId(n) = node
RETURN node, [name IN $names | n[name]] AS values
