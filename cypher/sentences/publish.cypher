// Note that the sentences of all chunks of a corpus have vectors, at its present revision.
// $corpus, $revision
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.sentence_vectors = $revision
