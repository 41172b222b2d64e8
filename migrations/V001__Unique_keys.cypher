// What identifies a node, enforced by the database.
//
// Every key begins with the corpus. Nodes without a `corpus` property are outside these constraints, so Document,
// Chunk and Entity nodes that other tools keep in the same database stay as they are.
// Staged nodes are those of a document that is still being indexed: no other index and no query sees them.
// E2GIndex is one node: the embedding model, its dimensions and pooling, and the spaCy pipeline of this index.

CREATE CONSTRAINT e2g_document_key IF NOT EXISTS
FOR (d:Document) REQUIRE (d.corpus, d.id) IS UNIQUE;

CREATE CONSTRAINT e2g_chunk_key IF NOT EXISTS
FOR (c:Chunk) REQUIRE (c.corpus, c.id) IS UNIQUE;

CREATE CONSTRAINT e2g_summary_key IF NOT EXISTS
FOR (s:Summary) REQUIRE (s.corpus, s.id) IS UNIQUE;

CREATE CONSTRAINT e2g_entity_key IF NOT EXISTS
FOR (e:Entity) REQUIRE (e.corpus, e.name) IS UNIQUE;

CREATE CONSTRAINT e2g_staged_chunk_key IF NOT EXISTS
FOR (c:StagedChunk) REQUIRE (c.corpus, c.id) IS UNIQUE;

CREATE CONSTRAINT e2g_staged_summary_key IF NOT EXISTS
FOR (s:StagedSummary) REQUIRE (s.corpus, s.id) IS UNIQUE;

CREATE CONSTRAINT e2g_index_key IF NOT EXISTS
FOR (i:E2GIndex) REQUIRE i.name IS UNIQUE;

CREATE CONSTRAINT e2g_window_key IF NOT EXISTS
FOR (w:Window) REQUIRE (w.corpus, w.id) IS UNIQUE;
