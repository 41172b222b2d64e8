// What this database's index was made with; one row once the first index run has begun.
// → embedding_model, dimensions, pooling, spacy_model
MATCH (index:E2GIndex {name: 'e2g'})
RETURN index.embedding_model AS embedding_model, index.dimensions AS dimensions, index.pooling AS pooling,
       index.spacy_model AS spacy_model
