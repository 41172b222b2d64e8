// Windows by id, chunk by chunk, with their document and the chunk's way to the root of the tree.
// $corpus, $ids
// → chunk, index, page, heading, document_id, document, source, path: [summary id], windows: [{id, text, start, end}]
UNWIND $ids AS id
MATCH (w:Window {corpus: $corpus, id: id})-[:PART_OF]->(n:Chunk)
WITH n, collect(w {.id, .text, .start, .end}) AS windows
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS chunk, n.index AS index, n.page AS page, n.heading AS heading,
       d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path, windows
