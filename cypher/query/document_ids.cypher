// The ids of the documents of a corpus, sorted.
// $corpus
// → id
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
RETURN d.id AS id ORDER BY id
