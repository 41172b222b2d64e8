// Like `query/raptor`. The indexes of chunks and of clusters do not know corpora: if one finds too few nodes of this
// corpus, all such nodes of the corpus are compared; in an adopted corpus, all windows.
// $corpus, $vector, $k
// → id, level, start, end, text, text_node: {element_id, key, begins}, page, heading, document_id, document, source,
//   path, score
CALL () {
  CALL db.index.vector.queryNodes('e2g_embedding', 5 * $k, $vector) YIELD node AS n, score
  WHERE n.corpus = $corpus
  RETURN collect({node: n, score: score}) AS chunks
}
CALL () {
  CALL db.index.vector.queryNodes('e2g_cluster_embedding', 5 * $k, $vector) YIELD node AS n, score
  WHERE n.corpus = $corpus
  RETURN collect({node: n, score: score}) AS clusters
}
CALL (chunks, clusters) {
  WITH chunks WHERE size(chunks) >= $k
  UNWIND chunks AS one
  RETURN one
  UNION ALL
  WITH chunks WHERE size(chunks) < $k
  MATCH (n:Chunk {corpus: $corpus})
  WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL
  RETURN {node: n, score: vector.similarity.cosine(n.embedding, $vector)} AS one
  UNION ALL
  MATCH (c:Corpus {corpus: $corpus})
  WHERE c.adopts IS NOT NULL
  MATCH (w:Window {corpus: $corpus})-[:PART_OF]->(n:Chunk)
  WHERE w.id IS NOT NULL
  WITH n, max(vector.similarity.cosine(w.embedding, $vector)) AS score
  RETURN {node: n, score: score} AS one
  UNION ALL
  WITH clusters WHERE size(clusters) >= $k
  UNWIND clusters AS one
  RETURN one
  UNION ALL
  WITH clusters WHERE size(clusters) < $k
  MATCH (n:Cluster {corpus: $corpus})
  WHERE n.id IS NOT NULL
  RETURN {node: n, score: vector.similarity.cosine(n.embedding, $vector)} AS one
}
WITH one.node AS n, one.score AS score ORDER BY round(score, 5) DESC, n.id LIMIT $k
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS id, n.level AS level, n.start AS start, n.end AS end,
       coalesce(n.text, [(n)-[r:STANDS_FOR]->(theirs) | toStringOrNull(theirs[r.text])][0], '') AS text,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT {
         MATCH (n)-[:IN_CLUSTER*1..5]->(c:Cluster)
         WITH DISTINCT c
         RETURN c.id ORDER BY c.level, c.id
       } AS path, score
ORDER BY score DESC, id
