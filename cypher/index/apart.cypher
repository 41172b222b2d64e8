// The names that are not to be joined to another one in this corpus.
// $corpus
// → key
MATCH (a:Alias {corpus: $corpus})
WHERE a.key IS NOT NULL AND a.apart
RETURN a.key AS key
