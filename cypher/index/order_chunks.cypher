// Connect chunks to the chunks that now follow them in reading order. No chunk follows the last one.
// $corpus, $rows: [{chunk, next}]
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.chunk})
OPTIONAL MATCH (c)-[before:NEXT_CHUNK]->()
DELETE before
WITH c, row
MATCH (n:Chunk {corpus: $corpus, id: row.next})
CREATE (c)-[:NEXT_CHUNK]->(n)
