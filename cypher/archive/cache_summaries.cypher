// Cache summaries of an archive for its corpus. Each key begins with the word of the corpus.
// $corpus, $rows: [{key, properties}]
UNWIND $rows AS row
MERGE (s:CachedSummary {key: row.key})
SET s = row.properties, s.corpora = [$corpus]
