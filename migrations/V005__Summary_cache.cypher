// What chat models wrote, so that the same text is never paid for twice.
//
// The key is a hash of the model, its options, the prompt and the text, and therefore the same for every document and
// corpus that holds the text. `corpora` lists those that did.

CREATE CONSTRAINT e2g_cached_summary_key IF NOT EXISTS
FOR (s:CachedSummary) REQUIRE s.key IS UNIQUE;
