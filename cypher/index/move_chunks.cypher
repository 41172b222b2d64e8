// Update the position of unchanged chunks and of their windows in their document.
// $corpus, $rows: [{id, index, start, end, page, heading, window_pages, window_headings, shift}]
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.id})
SET c.index = row.index, c.start = row.start, c.end = row.end, c.page = row.page, c.heading = row.heading,
    c.window_pages = row.window_pages, c.window_headings = row.window_headings
WITH c, row
WHERE row.shift <> 0
MATCH (w:Window)-[:PART_OF]->(c)
SET w.start = w.start + row.shift, w.end = w.end + row.shift
