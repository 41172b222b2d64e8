// assume that version is lt 2026.1
// As the file of this name in migrations/, for a server whose vector indexes have no filter.

CREATE CONSTRAINT e2g_statement_key IF NOT EXISTS
FOR (s:Statement) REQUIRE (s.corpus, s.id) IS UNIQUE;

CREATE INDEX e2g_staged_statement_run IF NOT EXISTS
FOR (s:StagedStatement) ON (s.corpus, s.run, s.id);

CREATE VECTOR INDEX e2g_statement_embedding IF NOT EXISTS
FOR (s:Statement) ON s.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
