// The revision of a corpus, and the one at which the names of all its entities had vectors; null if they were not asked
// for.
// $corpus
// → found, revision, entity_vectors
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c IS NOT NULL AS found, coalesce(c.revision, 0) AS revision, c.entity_vectors AS entity_vectors
