// Whether a corpus has documents, how it was adopted (if it was), what it was made with, and the suffix of its indexes.
// $corpus
// → found, adopts, made_with: {embedding_model, dimensions, pooling, spacy_model}, vectors
// include: made_with
RETURN EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.adopts }[0] AS adopts,
       made {.embedding_model, .dimensions, .pooling, .spacy_model} AS made_with, made.vectors AS vectors
