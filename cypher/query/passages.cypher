// Chunks by id, with their document and the path to the root of the tree.
// $corpus, $ids
// → id, level, index, start, end, text, text_node: {element_id, key, begins}, page, heading,
//   document_id, document, source, path: [summary id]
UNWIND $ids AS id
MATCH (n:Chunk {corpus: $corpus, id: id})
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS id, n.level AS level, n.index AS index, n.start AS start, n.end AS end,
       coalesce(n.text, [(n)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path
