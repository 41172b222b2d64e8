// Create the full-text index of windows in a language that has one of its own.
// $analyzer
CREATE FULLTEXT INDEX e2g_window_words IF NOT EXISTS
FOR (w:Window) ON EACH [w.fulltext, w.fulltext_corpus]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}}
