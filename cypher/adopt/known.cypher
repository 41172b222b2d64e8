// What is known of nodes with a label: whether there are any, and the properties and outgoing relationship types of the
// first $sample of them. Also all labels of the database.
// $label, $sample
// → nodes, properties: [name], types: [name], labels: [name]
OPTIONAL MATCH (n:$($label))
WITH n LIMIT $sample
WITH collect(n) AS nodes
RETURN size(nodes) AS nodes,
       COLLECT { UNWIND nodes AS n UNWIND keys(n) AS name RETURN DISTINCT name ORDER BY name } AS properties,
       COLLECT { UNWIND nodes AS n MATCH (n)-[r]->() RETURN DISTINCT type(r) AS name ORDER BY name } AS types,
       COLLECT { CALL db.labels() YIELD label RETURN label ORDER BY label } AS labels
