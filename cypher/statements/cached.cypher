// Cached replies, and whether they are cached for this corpus.
// $corpus, $keys
// → key, text, used
UNWIND $keys AS key
MATCH (s:CachedSummary {key: key})
RETURN key, s.text AS text, $corpus IN s.corpora AS used
