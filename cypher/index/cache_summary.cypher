// Cache the reply of a chat model to a text, and record that the corpus uses it.
// $key, $corpus, $text, $model, $prompt_tokens, $completion_tokens
MERGE (s:CachedSummary {key: $key})
ON CREATE SET s.text = $text, s.model = $model, s.prompt_tokens = $prompt_tokens,
              s.completion_tokens = $completion_tokens, s.created = datetime(), s.corpora = [$corpus]
ON MATCH SET s.corpora = CASE WHEN $corpus IN s.corpora THEN s.corpora ELSE s.corpora + $corpus END
