// Windows by id, with their chunk, document and the way to the root of the tree.
// $corpus, $ids
// → id, chunk, level, index, text, start, end, page, heading, document_id, document, source, path: [summary id]
UNWIND $ids AS id
MATCH (w:Window {corpus: $corpus, id: id})-[:PART_OF]->(n:Chunk)
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN id, n.id AS chunk, 0 AS level, n.index AS index, w.text AS text, w.start AS start, w.end AS end,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path
