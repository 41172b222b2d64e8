// The $k chunks and clusters nearest to a vector. In an adopted corpus, the score of a chunk is that of its nearest
// window; a chunk has about five windows. A cluster is cited with the document that has most of its chunks.
// $corpus, $vector, $k
// $documents: only these, null: all
// → id, level, start, end, text, text_node: {element_id, key, begins}, page, heading, document_id, document, source,
//   path, score
// include: nearest_clusters
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS id, n.level AS level, n.start AS start, n.end AS end,
       coalesce(n.text, [(n)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT {
         MATCH (n)-[:IN_CLUSTER*1..5]->(c:Cluster)
         WITH DISTINCT c
         RETURN c.id ORDER BY c.level, c.id
       } AS path, score
ORDER BY score DESC, id
