// List the names that must not be merged in a corpus.
// $corpus
// → key
MATCH (a:Alias {corpus: $corpus})
WHERE a.key IS NOT NULL AND a.apart
RETURN a.key AS key
