// The revision of a corpus, and the one that its communities were made from; null without communities.
// $corpus
// → found, revision, communities
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c IS NOT NULL AS found, coalesce(c.revision, 0) AS revision, c.communities AS communities
