// Let chunks stand for other nodes of somebody else's than before. A node that is gone is left out.
// $corpus, $rows: [{chunk, node, text, key}]: an element id, and the names of the properties
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.chunk})
OPTIONAL MATCH (c)-[before:STANDS_FOR]->()
DELETE before
WITH DISTINCT c, row
MATCH (theirs)
WHERE elementId(theirs) = row.node
CREATE (c)-[:STANDS_FOR {text: row.text, key: row.key}]->(theirs)
