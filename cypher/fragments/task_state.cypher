// A task without what it was given, what its first attempt found, and its result, which may be long.
// ← t
// = an expression, a map
t {.id, .kind, .corpus_name, .key, .state, .created, .started, .ended, .attempt, .stage, .done, .total, .tokens,
   .prompt_tokens, .completion_tokens, .cost, .error, .body_sha256}
