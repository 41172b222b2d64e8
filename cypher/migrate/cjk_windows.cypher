// Create the full-text index of Chinese windows.
CREATE FULLTEXT INDEX e2g_window_words_cjk IF NOT EXISTS
FOR (w:Window) ON EACH [w.cjk, w.cjk_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}}
