// The $k chunks with the windows nearest to a vector. The score of a chunk is that of its best window.
// $corpus, $vector, $windows: how many windows to search, $k
// → id, level, index, start, end, text, text_node: {element_id, key, begins}, page, heading,
//   document_id, document, source, path: [summary id], score
CYPHER 25
MATCH (w:Window)
  SEARCH w IN (VECTOR INDEX e2g_window_embedding FOR $vector WHERE w.corpus = $corpus LIMIT $windows) SCORE AS near
MATCH (w)-[:PART_OF]->(n:Chunk)
WITH n, max(near) AS score ORDER BY round(score, 5) DESC, n.id LIMIT $k
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS id, n.level AS level, n.index AS index, n.start AS start, n.end AS end,
       coalesce(n.text, [(n)-[r:STANDS_FOR]->(theirs) | toStringOrNull(theirs[r.text])][0], '') AS text,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path, score
ORDER BY score DESC, id
