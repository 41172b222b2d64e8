// The summaries that are remembered for a corpus. Which other corpora know them stays untold.
// $corpus
// → properties
MATCH (s:CachedSummary)
WHERE $corpus IN s.corpora
RETURN s {.*, corpora: null} AS properties
ORDER BY s.key
