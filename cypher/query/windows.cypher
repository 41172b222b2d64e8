// Windows by id, chunk by chunk, with their document and the chunk's way to the root of the tree. Where the chunk stands
// for a text node of somebody else's, a window's text is cut out of that.
// $corpus, $ids
// → chunk, index, text_node: {element_id, key, begins}, page, heading,
//   document_id, document, source, path: [summary id], windows: [{id, text, start, end}]
UNWIND $ids AS id
MATCH (w:Window {corpus: $corpus, id: id})-[:PART_OF]->(n:Chunk)
WITH n, collect(w) AS found
WITH n, found, coalesce([(n)-[r:STANDS_FOR]->(theirs) | toStringOrNull(theirs[r.text])][0], '') AS whole
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS chunk, n.index AS index,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path,
       [w IN found | {id: w.id, start: w.start, end: w.end,
                      text: coalesce(w.text, substring(whole, w.start - n.start, w.end - w.start))}] AS windows
