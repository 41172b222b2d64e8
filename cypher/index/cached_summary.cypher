// Read a cached summary.
// $key
// → text
MATCH (s:CachedSummary {key: $key})
RETURN s.text AS text
