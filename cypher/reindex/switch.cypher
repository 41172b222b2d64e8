// Give a corpus the vectors of another model, which are complete. Its clusters are those of the vectors before: they are
// out of date.
// $corpus, $embedding_model, $dimensions, $pooling, $spacy_model, $vectors: the suffix of its indexes,
// $unsuffixed: whether they are the first models if there are none,
// $added, $removed: the suffixes of the vectors before, and of these
FOREACH (one IN CASE WHEN $unsuffixed THEN [1] ELSE [] END |
  MERGE (index:E2GIndex {name: 'e2g'})
  ON CREATE SET index.embedding_model = $embedding_model, index.dimensions = $dimensions, index.pooling = $pooling,
                index.spacy_model = $spacy_model
)
MERGE (own:E2GIndex {name: 'e2g/' + $corpus})
SET own.corpus = $corpus, own.embedding_model = $embedding_model, own.dimensions = $dimensions, own.pooling = $pooling,
    own.spacy_model = $spacy_model, own.vectors = $vectors,
    own.unused = [suffix IN coalesce(own.unused, []) WHERE NOT suffix IN [$added, $removed]] + $added
WITH own
MATCH (corpus:Corpus {corpus: $corpus})
WHERE corpus.clusters IS NOT NULL
SET corpus.clusters = 0
