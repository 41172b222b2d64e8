// assume that version is ge 2026.1
// The schema: what identifies a node, and how nodes are found. `5.26/` has the same for servers of that line.
//
// A line `// part: NAME` says that the definitions after it belong to that part of the schema. e2g-neo4j creates the
// core first, and each other part when it is first used: most databases never need them all. The program
// neo4j-migrations runs the whole file that fits the server.
//
// Every key begins with the corpus. Nodes without a `corpus` property are outside these constraints, so Document,
// Chunk and Entity nodes that other tools keep in the same database stay as they are.
//
// Searches for vectors are filtered by corpus inside the index, those of chunks and summaries, and of communities, also
// by level. Windows are what the embedding model reads of a chunk. The length of the embeddings is a placeholder, in
// the form that neo4j-migrations replaces too. Vectors are kept whole: before 2026.08, the server's default, binary
// quantization, missed about one in ten of the nearest passages of a novel and was no faster.

// part: core
CREATE CONSTRAINT e2g_document_key IF NOT EXISTS FOR (d:Document) REQUIRE (d.corpus, d.id) IS UNIQUE;
CREATE INDEX e2g_document_source IF NOT EXISTS FOR (d:Document) ON (d.corpus, d.source);

// How a document is found by its title. `title_key` are the words of the title as texts mention it, or '' if none can.
// It is null until the chunks that refer to the document were found.
CREATE INDEX e2g_document_title IF NOT EXISTS FOR (d:Document) ON (d.corpus, d.title_key);

// The chunks, windows and summaries of a document, to read, publish or delete them. A composite index serves a query
// that names all of its properties: to list a whole corpus, add `AND c.document IS NOT NULL`.
CREATE CONSTRAINT e2g_chunk_key IF NOT EXISTS FOR (c:Chunk) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_chunk_document IF NOT EXISTS FOR (c:Chunk) ON (c.corpus, c.document);
CREATE CONSTRAINT e2g_window_key IF NOT EXISTS FOR (w:Window) REQUIRE (w.corpus, w.id) IS UNIQUE;
CREATE INDEX e2g_window_document IF NOT EXISTS FOR (w:Window) ON (w.corpus, w.document);
CREATE CONSTRAINT e2g_summary_key IF NOT EXISTS FOR (s:Summary) REQUIRE (s.corpus, s.id) IS UNIQUE;
CREATE INDEX e2g_summary_document IF NOT EXISTS FOR (s:Summary) ON (s.corpus, s.document);

// Staged nodes are those of a document that is still being indexed: no other index and no query sees them.
CREATE CONSTRAINT e2g_staged_chunk_key IF NOT EXISTS FOR (c:StagedChunk) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_staged_chunk_document IF NOT EXISTS FOR (c:StagedChunk) ON (c.corpus, c.document);
CREATE INDEX e2g_staged_window_document IF NOT EXISTS FOR (w:StagedWindow) ON (w.corpus, w.document);
CREATE CONSTRAINT e2g_staged_summary_key IF NOT EXISTS FOR (s:StagedSummary) REQUIRE (s.corpus, s.id) IS UNIQUE;
CREATE INDEX e2g_staged_summary_document IF NOT EXISTS FOR (s:StagedSummary) ON (s.corpus, s.document);

// The key of an entity is the folded form of its name. Its name is how it is written most often.
CREATE CONSTRAINT e2g_entity_key IF NOT EXISTS FOR (e:Entity) REQUIRE (e.corpus, e.key) IS UNIQUE;

// An Alias is a name that stands for another entity in some documents, such as a surname alone; ALIAS_OF tells for
// which one, and in which document. Where the corpus keeps the two apart, it has the property `apart` instead.
CREATE CONSTRAINT e2g_alias_key IF NOT EXISTS FOR (a:Alias) REQUIRE (a.corpus, a.key) IS UNIQUE;
CREATE INDEX e2g_alias_document IF NOT EXISTS FOR ()-[r:ALIAS_OF]-() ON (r.corpus, r.document);

// The words of the names of entities, to find one by a part of its name, or by a name with a typing error. Keys are
// folded already, so the analyzer only divides them at spaces: a word that begins with ~ or * is still one. It divides
// the name of a corpus too, which is looked for as a phrase, and then compared.
CREATE FULLTEXT INDEX e2g_name_words IF NOT EXISTS FOR (n:Entity|Alias) ON EACH [n.corpus, n.key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// The models of the first corpus, and of each corpus.
CREATE CONSTRAINT e2g_index_key IF NOT EXISTS FOR (i:E2GIndex) REQUIRE i.name IS UNIQUE;

// A Corpus counts the visible chunks and windows of its documents. `revision` counts the transactions that changed what
// queries see of it; its other properties name the revision that a layer was made from.
CREATE CONSTRAINT e2g_corpus_key IF NOT EXISTS FOR (c:Corpus) REQUIRE c.corpus IS UNIQUE;

// A full-text index counts words over all corpora. A Term counts the visible windows of one corpus that contain a word,
// in the form in which the index has it. `term` comes first, so that the index also finds a word in all corpora.
CREATE CONSTRAINT e2g_term_key IF NOT EXISTS FOR (t:Term) REQUIRE (t.term, t.corpus) IS UNIQUE;

// A full-text index analyses all that it holds, and would take the name of a corpus apart: corpus_key is one word that
// stands for it, so that a search can stay inside one corpus.
CREATE FULLTEXT INDEX e2g_chunk_words IF NOT EXISTS FOR (c:Chunk) ON EACH [c.text, c.corpus_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX e2g_window_words IF NOT EXISTS FOR (w:Window) ON EACH [w.text, w.corpus_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

// What chat models wrote. The key is a hash of the model, its options, the prompt and the text, so that the same text
// is never paid for twice, in whichever corpus it is. `corpora` lists those that hold it.
CREATE CONSTRAINT e2g_cached_summary_key IF NOT EXISTS FOR (s:CachedSummary) REQUIRE s.key IS UNIQUE;

// An E2GRun is a run of indexing that is at work: the documents that it holds name it, and are its own until it
// expires. An E2GLock never outlives the transaction that makes it: the constraint lets only one transaction at a time
// make that of a corpus.
CREATE CONSTRAINT e2g_run_key IF NOT EXISTS FOR (r:E2GRun) REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT e2g_lock_key IF NOT EXISTS FOR (l:E2GLock) REQUIRE l.corpus IS UNIQUE;

CYPHER 25
CREATE VECTOR INDEX e2g_embedding IF NOT EXISTS
FOR (n:Chunk|Summary) ON n.embedding
WITH [n.corpus, n.level]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

CYPHER 25
CREATE VECTOR INDEX e2g_window_embedding IF NOT EXISTS
FOR (w:Window) ON w.embedding
WITH [w.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// The names of entities, in the core because mode `pagerank` looks them up even where they have no vectors.
// `Entity.embedded_name` is the name whose vector is stored: the name of an entity is its most frequent spelling, which
// may change.
CYPHER 25
CREATE VECTOR INDEX e2g_entity_embedding IF NOT EXISTS
FOR (e:Entity) ON e.embedding
WITH [e.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: communities
// Staged communities are those of a run that is making them, outdated ones quote a chunk or name an entity that is
// gone: no query sees them. The vectors of outdated ones are used again, if new communities have the same reports. So
// are those of clusters below.
CREATE CONSTRAINT e2g_community_key IF NOT EXISTS FOR (c:Community) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_staged_community_run IF NOT EXISTS FOR (c:StagedCommunity) ON (c.corpus, c.run, c.id);
CREATE INDEX e2g_outdated_community_corpus IF NOT EXISTS FOR (c:OutdatedCommunity) ON (c.corpus);

CYPHER 25
CREATE VECTOR INDEX e2g_community_embedding IF NOT EXISTS
FOR (c:Community) ON c.embedding
WITH [c.corpus, c.level]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: clusters
CREATE CONSTRAINT e2g_cluster_key IF NOT EXISTS FOR (c:Cluster) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_staged_cluster_run IF NOT EXISTS FOR (c:StagedCluster) ON (c.corpus, c.run, c.id);
CREATE INDEX e2g_outdated_cluster_corpus IF NOT EXISTS FOR (c:OutdatedCluster) ON (c.corpus);

CYPHER 25
CREATE VECTOR INDEX e2g_cluster_embedding IF NOT EXISTS
FOR (c:Cluster) ON c.embedding
WITH [c.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: statements
// Relations between entities and descriptions of entities that a chat model has found in the text.
// `Corpus.statement_models` names the models and prompts whose replies they come from.
CREATE CONSTRAINT e2g_statement_key IF NOT EXISTS FOR (s:Statement) REQUIRE (s.corpus, s.id) IS UNIQUE;
CREATE INDEX e2g_staged_statement_run IF NOT EXISTS FOR (s:StagedStatement) ON (s.corpus, s.run, s.id);

CYPHER 25
CREATE VECTOR INDEX e2g_statement_embedding IF NOT EXISTS
FOR (s:Statement) ON s.embedding
WITH [s.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: links
// The names of the user's nodes that a corpus was linked with, by their label. They are found in its texts. `version`
// is a hash of the names and their type. `changed` are names whose documents may not have been updated.
CREATE CONSTRAINT e2g_linked_names_key IF NOT EXISTS FOR (n:E2GLinkedNames) REQUIRE (n.corpus, n.label) IS UNIQUE;

// part: service
// Its tasks with the files that wait for them, its keys, and what they used.
//
// Tasks name a corpus in `corpus_name`. They are no part of it: what exports, counts or deletes a corpus looks for
// `corpus` and leaves them alone. An E2GTaskStep says that a step of a task was done, in the transaction that
// did it. The one E2GQueue is the lock that every change of a task takes.
CREATE CONSTRAINT e2g_task_id IF NOT EXISTS FOR (t:E2GTask) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT e2g_task_idempotency IF NOT EXISTS FOR (t:E2GTask) REQUIRE t.idempotency IS UNIQUE;
CREATE INDEX e2g_task_state IF NOT EXISTS FOR (t:E2GTask) ON (t.state);
CREATE INDEX e2g_task_turn IF NOT EXISTS FOR (t:E2GTask) ON (t.key, t.turn);
CREATE INDEX e2g_task_created IF NOT EXISTS FOR (t:E2GTask) ON (t.created);
CREATE INDEX e2g_task_ended IF NOT EXISTS FOR (t:E2GTask) ON (t.ended);
CREATE CONSTRAINT e2g_task_step IF NOT EXISTS FOR (s:E2GTaskStep) REQUIRE (s.task, s.step) IS UNIQUE;
CREATE CONSTRAINT e2g_queue_id IF NOT EXISTS FOR (q:E2GQueue) REQUIRE q.id IS UNIQUE;
CREATE CONSTRAINT e2g_blob_part IF NOT EXISTS FOR (b:E2GBlob) REQUIRE (b.task, b.file, b.part) IS UNIQUE;
CREATE CONSTRAINT e2g_api_key_id IF NOT EXISTS FOR (k:E2GKey) REQUIRE k.id IS UNIQUE;
CREATE CONSTRAINT e2g_conversation_id IF NOT EXISTS FOR (c:E2GConversation) REQUIRE (c.key, c.id) IS UNIQUE;
CREATE CONSTRAINT e2g_usage_day IF NOT EXISTS FOR (u:E2GUsage) REQUIRE (u.key, u.day) IS UNIQUE;
