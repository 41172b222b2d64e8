// List the models that corpora were made with. There are no corpora for the first models of the database if each has a
// record of its own.
// → embedding_model, dimensions, pooling, spacy_model, corpora: [name]
MATCH (i:E2GIndex)
WHERE i.name IS NOT NULL
WITH i.embedding_model AS embedding_model, i.dimensions AS dimensions, i.pooling AS pooling,
     i.spacy_model AS spacy_model, collect(i.corpus) AS corpora
RETURN embedding_model, dimensions, pooling, spacy_model, COLLECT { UNWIND corpora AS name RETURN name ORDER BY name } AS corpora
ORDER BY embedding_model, dimensions, pooling, spacy_model
