// Read the options that a corpus was adopted with, if it was, the properties that its documents take over, and whether it
// has documents.
// $corpus
// → adopts, properties, documents
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c.adopts AS adopts, c.adopted_properties AS properties,
       EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL } AS documents
