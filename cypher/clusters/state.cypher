// The revision of a corpus, and the one that its clusters were made from; null without clusters.
// $corpus
// → found, revision, clusters
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c IS NOT NULL AS found, coalesce(c.revision, 0) AS revision, c.clusters AS clusters
