// Windows: the parts of a chunk that the embedding model read at once, each with a vector of its own.
//
// Found by key while they are staged, by document when they are read or deleted, and by their words.

CREATE CONSTRAINT e2g_window_key IF NOT EXISTS
FOR (w:Window) REQUIRE (w.corpus, w.id) IS UNIQUE;

CREATE INDEX e2g_window_document IF NOT EXISTS
FOR (w:Window) ON (w.corpus, w.document);

CREATE INDEX e2g_staged_window_document IF NOT EXISTS
FOR (w:StagedWindow) ON (w.corpus, w.document);

CREATE FULLTEXT INDEX e2g_window_text IF NOT EXISTS
FOR (w:Window) ON EACH [w.text, w.corpus]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
