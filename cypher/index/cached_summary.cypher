// The summary that a chat model wrote of a text before.
// $key
// → text
MATCH (s:CachedSummary {key: $key})
RETURN s.text AS text
