// List the visible chunks of a document, with the ids of the next chunk and of the parent summary.
// $corpus, $document
// → id, index, start, end, page, heading, window_pages, window_headings, notes, told, extractor, windows: [[start, end]],
//   next, parent
MATCH (c:Chunk {corpus: $corpus, document: $document})
RETURN c.id AS id, c.index AS index, c.start AS start, c.end AS end, c.page AS page, c.heading AS heading,
       c.window_pages AS window_pages, c.window_headings AS window_headings, c.notes AS notes, c.told AS told,
       [(c)-[:FROM_DOCUMENT]->(d:Document) | d.extractor][0] AS extractor,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN [w.start, w.end] ORDER BY w.index } AS windows,
       [(c)-[:NEXT_CHUNK]->(n:Chunk) | n.id][0] AS next, [(c)-[:CHILD_OF]->(s:Summary) | s.id][0] AS parent
