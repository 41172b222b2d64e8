// Record that a name must not be merged in a corpus.
// $corpus, $key
MERGE (a:Alias {corpus: $corpus, key: $key})
SET a.apart = true
