// Read the texts of nodes of the user's graph; '' if a node has none.
// $nodes: [element id], $texts: [name of a property]
// → node, text, names: [property that the node has]
WITH {text: $texts} AS r
UNWIND $nodes AS node
MATCH (theirs)
WHERE elementId(theirs) = node
RETURN node,
       // include: their_text
       AS text,
       [name IN r.text WHERE theirs[name] IS NOT NULL] AS names
