// Create the full-text index of Chinese chunks.
CREATE FULLTEXT INDEX e2g_chunk_words_cjk IF NOT EXISTS
FOR (c:Chunk) ON EACH [c.cjk, c.cjk_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}}
