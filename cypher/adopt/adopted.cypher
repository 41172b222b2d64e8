// Read the options that a corpus was adopted with, if it was, and whether it has documents.
// $corpus
// → adopts, documents
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c.adopts AS adopts, EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL } AS documents
