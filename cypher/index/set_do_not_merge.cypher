// Record that a name must not be merged in a corpus. This undoes `set_merge`.
// $corpus, $key
MERGE (a:Alias {corpus: $corpus, key: $key})
SET a.apart = true
REMOVE a.into
