// The vectors of stored summaries of clusters.
// $corpus, $texts: [sha256]
// → text, embedding
CALL () {
  MATCH (c:Cluster {corpus: $corpus}) WHERE c.id IS NOT NULL RETURN c
  UNION ALL
  MATCH (c:OutdatedCluster {corpus: $corpus}) RETURN c
}
WITH c WHERE c.text_sha256 IN $texts
RETURN c.text_sha256 AS text, head(collect(c.embedding)) AS embedding
