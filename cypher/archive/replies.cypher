// Read what chat models and graph documents said about texts of a corpus.
// $corpus
// → key, text, model, prompt_tokens, completion_tokens, created
MATCH (s:CachedSummary)
WHERE $corpus IN s.corpora
RETURN s.key AS key, s.text AS text, s.model AS model, s.prompt_tokens AS prompt_tokens,
       s.completion_tokens AS completion_tokens, toString(s.created) AS created
ORDER BY key
