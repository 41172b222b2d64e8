// Record that a corpus uses cached replies.
// $corpus, $keys
UNWIND $keys AS key
MATCH (s:CachedSummary {key: key})
WHERE NOT $corpus IN s.corpora
SET s.corpora = s.corpora + $corpus
