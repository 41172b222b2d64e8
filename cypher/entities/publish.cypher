// Note that the names of all entities of a corpus have vectors, at its present revision.
// $corpus, $revision
MATCH (c:Corpus {corpus: $corpus})
SET c.entity_vectors = $revision
