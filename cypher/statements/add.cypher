// Keep what graph documents say about texts, in place of what was added about the same texts before.
// $corpus, $rows: [{key, text}]
UNWIND $rows AS row
MERGE (s:CachedSummary {key: row.key})
SET s.text = row.text, s.created = datetime(), s.corpora = [$corpus]
