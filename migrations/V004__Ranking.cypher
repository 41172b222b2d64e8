// What ranking looks up: chunks and windows by their words, and the size of a corpus.
//
// A full-text index analyses all that it holds, and would take the name of a corpus apart: corpus_key is one word that
// stands for it. A Corpus node counts the visible chunks and windows of its documents.

CREATE CONSTRAINT e2g_corpus_key IF NOT EXISTS
FOR (c:Corpus) REQUIRE c.corpus IS UNIQUE;

DROP INDEX e2g_text IF EXISTS;

CREATE FULLTEXT INDEX e2g_chunk_words IF NOT EXISTS
FOR (c:Chunk) ON EACH [c.text, c.corpus_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

CREATE FULLTEXT INDEX e2g_window_words IF NOT EXISTS
FOR (w:Window) ON EACH [w.text, w.corpus_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
