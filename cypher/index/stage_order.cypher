// Join neighbouring chunks in reading order.
// $corpus, $rows: [{chunk, next}]
UNWIND $rows AS row
MATCH (a:StagedChunk {corpus: $corpus, id: row.chunk})
MATCH (b:StagedChunk {corpus: $corpus, id: row.next})
CREATE (a)-[:NEXT_CHUNK]->(b)
