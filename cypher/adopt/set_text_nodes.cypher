// Connect chunks to other text nodes of the user's graph. Rows whose node does not exist any more are skipped.
// $corpus, $rows: [{chunk, node, text: [name], key}]: an element id, and the names of the properties
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.chunk})
OPTIONAL MATCH (c)-[before:STANDS_FOR]->()
DELETE before
WITH DISTINCT c, row
MATCH (theirs)
WHERE elementId(theirs) = row.node
CREATE (c)-[:STANDS_FOR {text: row.text, key: row.key}]->(theirs)
