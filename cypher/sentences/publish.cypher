// Note that the sentences of all chunks of a corpus have vectors, at its present revision.
// $corpus, $revision
MATCH (c:Corpus {corpus: $corpus})
SET c.sentence_vectors = $revision
