// How nodes are found other than by key.
//
// A document by its source; the chunks, windows and summaries of a document, to read, publish or delete them; chunks
// by their words. A composite index serves a query that names all of its properties: to list a whole corpus, add
// `AND c.document IS NOT NULL`. The full-text index holds the corpus too, so that a search can stay inside one.

CREATE INDEX e2g_document_source IF NOT EXISTS
FOR (d:Document) ON (d.corpus, d.source);

CREATE INDEX e2g_chunk_document IF NOT EXISTS
FOR (c:Chunk) ON (c.corpus, c.document);

CREATE INDEX e2g_summary_document IF NOT EXISTS
FOR (s:Summary) ON (s.corpus, s.document);

CREATE INDEX e2g_staged_chunk_document IF NOT EXISTS
FOR (c:StagedChunk) ON (c.corpus, c.document);

CREATE INDEX e2g_staged_summary_document IF NOT EXISTS
FOR (s:StagedSummary) ON (s.corpus, s.document);

CREATE INDEX e2g_window_document IF NOT EXISTS
FOR (w:Window) ON (w.corpus, w.document);

CREATE INDEX e2g_staged_window_document IF NOT EXISTS
FOR (w:StagedWindow) ON (w.corpus, w.document);

CREATE FULLTEXT INDEX e2g_text IF NOT EXISTS
FOR (c:Chunk) ON EACH [c.text, c.corpus]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
