// Read which models a corpus was made with, and the first models of the database, whose vectors have no suffix. No row
// for a database without any. `vectors` is the suffix of its indexes, `indexed` tells whether it has a document in any
// state.
// $corpus
// → embedding_model, dimensions, pooling, spacy_model, vectors,
//   first: {embedding_model, dimensions, pooling}, unused: [suffix of vectors that no question uses], indexed
// include: made_with
OPTIONAL MATCH (first:E2GIndex {name: 'e2g'})
WITH made, first
WHERE made IS NOT NULL
RETURN made.embedding_model AS embedding_model, made.dimensions AS dimensions, made.pooling AS pooling,
       made.spacy_model AS spacy_model, made.vectors AS vectors,
       first {.embedding_model, .dimensions, .pooling} AS first, coalesce(made.unused, []) AS unused,
       EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL } AS indexed
