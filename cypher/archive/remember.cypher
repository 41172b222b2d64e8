// Remember summaries of an archive for a corpus. One that is known already stays as it is.
// $corpus, $rows: [{key, properties}]
UNWIND $rows AS row
MERGE (s:CachedSummary {key: row.key})
ON CREATE SET s = row.properties, s.corpora = [$corpus]
ON MATCH SET s.corpora = CASE WHEN $corpus IN s.corpora THEN s.corpora ELSE s.corpora + $corpus END
