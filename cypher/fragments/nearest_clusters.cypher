// The chunks and clusters nearest to a vector. In an adopted corpus, the score of a chunk is that of its nearest window; a
// chunk has about five windows.
// $corpus, $vector, $k
// → n, score: (1 + cosine) / 2
CYPHER 25
CALL () {
  MATCH (n:Chunk|Summary)
    SEARCH n IN (VECTOR INDEX e2g_embedding FOR $vector WHERE n.corpus = $corpus AND n.level = 0 LIMIT $k) SCORE AS score
  RETURN n, score
  UNION ALL
  MATCH (n:Cluster)
    SEARCH n IN (VECTOR INDEX e2g_cluster_embedding FOR $vector WHERE n.corpus = $corpus LIMIT $k) SCORE AS score
  RETURN n, score
  UNION ALL
  MATCH (c:Corpus {corpus: $corpus})
  WHERE c.adopts IS NOT NULL
  CALL () {
    MATCH (w:Window)
      SEARCH w IN (VECTOR INDEX e2g_window_embedding FOR $vector WHERE w.corpus = $corpus LIMIT 6 * $k) SCORE AS near
    RETURN w, near
  }
  MATCH (w)-[:PART_OF]->(n:Chunk)
  RETURN n, max(near) AS score
}
WITH n, score ORDER BY round(score, 5) DESC, n.id LIMIT $k
