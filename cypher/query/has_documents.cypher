// Whether a corpus has documents, whatever their state.
// $corpus
// → found
RETURN EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL } AS found
