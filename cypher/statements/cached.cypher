// Cached replies.
// $keys
// → key, text
UNWIND $keys AS key
MATCH (s:CachedSummary {key: key})
RETURN key, s.text AS text
