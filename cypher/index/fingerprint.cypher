// Read the fingerprint of the index; one row once the first run has begun.
// → embedding_model, dimensions, pooling, spacy_model
MATCH (index:E2GIndex {name: 'e2g'})
RETURN index.embedding_model AS embedding_model, index.dimensions AS dimensions, index.pooling AS pooling,
       index.spacy_model AS spacy_model
