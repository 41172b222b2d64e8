// Create the full-text index of chunks in a language that has one of its own.
// $analyzer
CREATE FULLTEXT INDEX e2g_chunk_words IF NOT EXISTS
FOR (c:Chunk) ON EACH [c.fulltext, c.fulltext_corpus]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}}
