// Record that a name resolves to another one in a corpus, or, without another one, that it must not be merged.
// $corpus, $key, $into: the key of the other name, or null
MERGE (a:Alias {corpus: $corpus, key: $key})
SET a.into = $into, a.apart = CASE WHEN $into IS NULL THEN true END
