// Say where chunks that stay, and their windows, now are in their document.
// $corpus, $rows: [{id, index, start, end, page, heading, shift}]
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.id})
SET c.index = row.index, c.start = row.start, c.end = row.end, c.page = row.page, c.heading = row.heading
WITH c, row
WHERE row.shift <> 0
MATCH (w:Window)-[:PART_OF]->(c)
SET w.start = w.start + row.shift, w.end = w.end + row.shift
