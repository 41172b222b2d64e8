// Cache replies of an archive for its corpus. Each key begins with the word of the corpus.
// $corpus, $rows: [{key, text, model, prompt_tokens, completion_tokens, created}]
UNWIND $rows AS row
MERGE (s:CachedSummary {key: row.key})
SET s.text = row.text, s.model = row.model, s.prompt_tokens = row.prompt_tokens,
    s.completion_tokens = row.completion_tokens, s.created = datetime(row.created), s.corpora = [$corpus]
