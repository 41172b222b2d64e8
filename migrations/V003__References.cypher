// How a document is found by its title. `title_key` are the words of the title as texts mention it, or '' if none can. It
// is null until the chunks that refer to the document were found.

// part: core
CREATE INDEX e2g_document_title IF NOT EXISTS
FOR (d:Document) ON (d.corpus, d.title_key);
