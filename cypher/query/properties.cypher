// The names of the properties that the user gave to the documents of a corpus, as they are stored.
// $corpus
// → property
MATCH (d:Document {corpus: $corpus, state: 'ready'})
WHERE d.id IS NOT NULL
UNWIND [name IN keys(d) WHERE name STARTS WITH 'meta_'] AS property
RETURN DISTINCT property
ORDER BY property
