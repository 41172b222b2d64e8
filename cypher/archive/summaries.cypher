// Read the summaries that are cached for a corpus, without the names of other corpora that use them.
// $corpus
// → properties
MATCH (s:CachedSummary)
WHERE $corpus IN s.corpora
RETURN s {.*, corpora: null} AS properties
ORDER BY s.key
