// Record that a name resolves to another one in a corpus. This undoes `set_do_not_merge`.
// $corpus, $key, $into: the key of the other name
MERGE (a:Alias {corpus: $corpus, key: $key})
SET a.into = $into
REMOVE a.apart
