// Windows by id, grouped by chunk, with their document and the chunk's path to the root of the tree. If the chunk is an
// adopted text node, the text of a window is a slice of that node's text.
// $corpus, $ids
// → chunk, index, text_node: {element_id, key, begins}, document_id, document, source, path: [summary id], windows:
//   [{id, text, start, end, page, heading}]. '' means no page or heading.
UNWIND $ids AS id
MATCH (w:Window {corpus: $corpus, id: id})-[:PART_OF]->(n:Chunk)
WITH n, collect(w) AS found
WITH n, found, coalesce([(n)-[r:STANDS_FOR]->(theirs) |
  // include: their_text
][0], '') AS whole
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS chunk, n.index AS index,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path,
       [w IN found | {id: w.id, start: w.start, end: w.end,
                      page: n.window_pages[w.index], heading: n.window_headings[w.index],
                      text: coalesce(w.text, substring(whole, w.start - n.start, w.end - w.start))}] AS windows
