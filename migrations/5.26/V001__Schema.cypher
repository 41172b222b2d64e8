// assume that version is lt 2026.1
// As the file of this name one level up, for a server whose vector indexes have one label and no filter.

// part: core
CREATE CONSTRAINT e2g_document_key IF NOT EXISTS FOR (d:Document) REQUIRE (d.corpus, d.id) IS UNIQUE;
CREATE INDEX e2g_document_source IF NOT EXISTS FOR (d:Document) ON (d.corpus, d.source);
CREATE INDEX e2g_document_title IF NOT EXISTS FOR (d:Document) ON (d.corpus, d.title_key);
CREATE CONSTRAINT e2g_chunk_key IF NOT EXISTS FOR (c:Chunk) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_chunk_document IF NOT EXISTS FOR (c:Chunk) ON (c.corpus, c.document);
CREATE CONSTRAINT e2g_window_key IF NOT EXISTS FOR (w:Window) REQUIRE (w.corpus, w.id) IS UNIQUE;
CREATE INDEX e2g_window_document IF NOT EXISTS FOR (w:Window) ON (w.corpus, w.document);
CREATE CONSTRAINT e2g_summary_key IF NOT EXISTS FOR (s:Summary) REQUIRE (s.corpus, s.id) IS UNIQUE;
CREATE INDEX e2g_summary_document IF NOT EXISTS FOR (s:Summary) ON (s.corpus, s.document);
CREATE CONSTRAINT e2g_staged_chunk_key IF NOT EXISTS FOR (c:StagedChunk) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_staged_chunk_document IF NOT EXISTS FOR (c:StagedChunk) ON (c.corpus, c.document);
CREATE INDEX e2g_staged_window_document IF NOT EXISTS FOR (w:StagedWindow) ON (w.corpus, w.document);
CREATE CONSTRAINT e2g_staged_summary_key IF NOT EXISTS FOR (s:StagedSummary) REQUIRE (s.corpus, s.id) IS UNIQUE;
CREATE INDEX e2g_staged_summary_document IF NOT EXISTS FOR (s:StagedSummary) ON (s.corpus, s.document);
CREATE CONSTRAINT e2g_entity_key IF NOT EXISTS FOR (e:Entity) REQUIRE (e.corpus, e.key) IS UNIQUE;
CREATE CONSTRAINT e2g_alias_key IF NOT EXISTS FOR (a:Alias) REQUIRE (a.corpus, a.key) IS UNIQUE;
CREATE INDEX e2g_alias_document IF NOT EXISTS FOR ()-[r:ALIAS_OF]-() ON (r.corpus, r.document);
CREATE FULLTEXT INDEX e2g_name_words IF NOT EXISTS FOR (n:Entity|Alias) ON EACH [n.corpus, n.key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE CONSTRAINT e2g_index_key IF NOT EXISTS FOR (i:E2GIndex) REQUIRE i.name IS UNIQUE;
CREATE CONSTRAINT e2g_corpus_key IF NOT EXISTS FOR (c:Corpus) REQUIRE c.corpus IS UNIQUE;
CREATE CONSTRAINT e2g_term_key IF NOT EXISTS FOR (t:Term) REQUIRE (t.term, t.corpus) IS UNIQUE;
CREATE FULLTEXT INDEX e2g_chunk_words IF NOT EXISTS FOR (c:Chunk) ON EACH [c.text, c.corpus_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX e2g_window_words IF NOT EXISTS FOR (w:Window) ON EACH [w.text, w.corpus_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE CONSTRAINT e2g_cached_summary_key IF NOT EXISTS FOR (s:CachedSummary) REQUIRE s.key IS UNIQUE;
CREATE CONSTRAINT e2g_run_key IF NOT EXISTS FOR (r:E2GRun) REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT e2g_lock_key IF NOT EXISTS FOR (l:E2GLock) REQUIRE l.corpus IS UNIQUE;
CREATE VECTOR INDEX e2g_embedding IF NOT EXISTS FOR (n:Chunk) ON n.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
CREATE VECTOR INDEX e2g_summary_embedding IF NOT EXISTS FOR (s:Summary) ON s.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
CREATE VECTOR INDEX e2g_window_embedding IF NOT EXISTS FOR (w:Window) ON w.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
CREATE VECTOR INDEX e2g_entity_embedding IF NOT EXISTS FOR (e:Entity) ON e.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: communities
CREATE CONSTRAINT e2g_community_key IF NOT EXISTS FOR (c:Community) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_staged_community_run IF NOT EXISTS FOR (c:StagedCommunity) ON (c.corpus, c.run, c.id);
CREATE INDEX e2g_outdated_community_corpus IF NOT EXISTS FOR (c:OutdatedCommunity) ON (c.corpus);
CREATE VECTOR INDEX e2g_community_embedding IF NOT EXISTS FOR (c:Community) ON c.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: clusters
CREATE CONSTRAINT e2g_cluster_key IF NOT EXISTS FOR (c:Cluster) REQUIRE (c.corpus, c.id) IS UNIQUE;
CREATE INDEX e2g_staged_cluster_run IF NOT EXISTS FOR (c:StagedCluster) ON (c.corpus, c.run, c.id);
CREATE INDEX e2g_outdated_cluster_corpus IF NOT EXISTS FOR (c:OutdatedCluster) ON (c.corpus);
CREATE VECTOR INDEX e2g_cluster_embedding IF NOT EXISTS FOR (c:Cluster) ON c.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: statements
CREATE CONSTRAINT e2g_statement_key IF NOT EXISTS FOR (s:Statement) REQUIRE (s.corpus, s.id) IS UNIQUE;
CREATE INDEX e2g_staged_statement_run IF NOT EXISTS FOR (s:StagedStatement) ON (s.corpus, s.run, s.id);
CREATE VECTOR INDEX e2g_statement_embedding IF NOT EXISTS FOR (s:Statement) ON s.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions}, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: links
CREATE CONSTRAINT e2g_linked_names_key IF NOT EXISTS FOR (n:E2GLinkedNames) REQUIRE (n.corpus, n.label) IS UNIQUE;

// part: service
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
