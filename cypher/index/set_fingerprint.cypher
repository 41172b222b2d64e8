// Record the fingerprint of the index, unless there is one, and return the record.
// $embedding_model, $dimensions, $pooling, $spacy_model
// → embedding_model, dimensions, pooling, spacy_model
MERGE (index:E2GIndex {name: 'e2g'})
ON CREATE SET index.embedding_model = $embedding_model,
              index.dimensions = $dimensions,
              index.pooling = $pooling,
              index.spacy_model = $spacy_model
RETURN index.embedding_model AS embedding_model, index.dimensions AS dimensions, index.pooling AS pooling,
       index.spacy_model AS spacy_model
