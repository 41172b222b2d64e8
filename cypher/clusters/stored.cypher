// The clusters of a corpus that queries see, and the summaries that are stored, also of clusters that are outdated.
// $corpus
// → clusters: [{id, sha256}], texts: [sha256]
CALL () {
  MATCH (c:Cluster {corpus: $corpus})
  WHERE c.id IS NOT NULL
  RETURN collect({id: c.id, sha256: c.sha256}) AS clusters, collect(c.text_sha256) AS current
}
CALL () {
  MATCH (c:OutdatedCluster {corpus: $corpus})
  RETURN collect(c.text_sha256) AS outdated
}
RETURN clusters, current + outdated AS texts
