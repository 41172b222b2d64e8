// Read what chat models and graph documents said about texts of a corpus.
// $corpus
// → properties
MATCH (s:CachedSummary)
WHERE $corpus IN s.corpora
RETURN s {.*, corpora: null} AS properties
ORDER BY s.key
