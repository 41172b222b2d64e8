// Whether a corpus has documents, and what the index was made with.
// $corpus
// → found, made_with: {embedding_model, dimensions, pooling, spacy_model}
OPTIONAL MATCH (made:E2GIndex {name: 'e2g'})
RETURN EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found,
       made {.embedding_model, .dimensions, .pooling, .spacy_model} AS made_with
