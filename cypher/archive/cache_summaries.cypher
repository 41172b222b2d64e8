// Cache summaries of an archive for a corpus. Summaries that are cached already are not changed.
// $corpus, $rows: [{key, properties}]
UNWIND $rows AS row
MERGE (s:CachedSummary {key: row.key})
ON CREATE SET s = row.properties, s.corpora = [$corpus]
ON MATCH SET s.corpora = CASE WHEN $corpus IN s.corpora THEN s.corpora ELSE s.corpora + $corpus END
