// Like `query/dense`. The index does not know corpora: if it finds too few windows of this corpus, all windows of the
// corpus are compared.
// $corpus, $vector, $windows: how many windows to search, $k
// → id, level, index, start, end, text, text_node: {element_id, key, begins}, page, heading,
//   document_id, document, source, path: [summary id], score
CALL () {
  CALL db.index.vector.queryNodes('e2g_window_embedding', 5 * $windows, $vector) YIELD node AS w, score AS near
  WHERE w.corpus = $corpus
  RETURN collect({window: w, near: near}) AS indexed
}
CALL (indexed) {
  WITH indexed WHERE size(indexed) >= $windows
  UNWIND indexed AS one
  RETURN one.window AS w, one.near AS near
  UNION ALL
  WITH indexed WHERE size(indexed) < $windows
  MATCH (w:Window {corpus: $corpus})
  WHERE w.id IS NOT NULL
  RETURN w, vector.similarity.cosine(w.embedding, $vector) AS near
}
WITH w, near ORDER BY round(near, 5) DESC, w.id LIMIT $windows
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
