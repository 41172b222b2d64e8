// Cache the reply of a chat model to a text, for one corpus.
// $key: begins with the word of the corpus, $corpus, $text, $model, $prompt_tokens, $completion_tokens
MERGE (s:CachedSummary {key: $key})
ON CREATE SET s.text = $text, s.model = $model, s.prompt_tokens = $prompt_tokens,
              s.completion_tokens = $completion_tokens, s.created = datetime(), s.corpora = [$corpus]
