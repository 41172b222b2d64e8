// Record the models of a corpus, unless it has documents and a record. Vectors without a suffix are those of the first
// models of the database.
// $corpus, $embedding_model, $dimensions, $pooling, $spacy_model, $vectors: the suffix of its indexes,
//   $unsuffixed: whether they are the first models if there are none
FOREACH (one IN CASE WHEN $unsuffixed THEN [1] ELSE [] END |
  MERGE (index:E2GIndex {name: 'e2g'})
  ON CREATE SET index.embedding_model = $embedding_model, index.dimensions = $dimensions, index.pooling = $pooling,
                index.spacy_model = $spacy_model
)
MERGE (own:E2GIndex {name: 'e2g/' + $corpus})
WITH own
WHERE own.corpus IS NULL OR NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL }
SET own.corpus = $corpus, own.embedding_model = $embedding_model, own.dimensions = $dimensions, own.pooling = $pooling,
    own.spacy_model = $spacy_model, own.vectors = $vectors
