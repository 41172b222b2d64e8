// Remember that a name is not to be joined to another one in a corpus.
// $corpus, $key
MERGE (a:Alias {corpus: $corpus, key: $key})
SET a.apart = true
