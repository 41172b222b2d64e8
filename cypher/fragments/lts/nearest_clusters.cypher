// The chunks and clusters nearest to a vector. Their indexes do not know corpora: if one finds too few nodes of this
// corpus, all such nodes of the corpus are compared; in an adopted corpus, all windows.
// $corpus, $vector, $k
// → n, score: (1 + cosine) / 2
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
