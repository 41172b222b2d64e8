// Statements: relations between entities and descriptions of entities that a chat model has found in the text.
//
// `Corpus.statements` is the revision that its statements were made from, `Corpus.statement_models` names the models and
// prompts whose replies they come from. Staged statements are those of a run that is making them: no query sees them.

CREATE CONSTRAINT e2g_statement_key IF NOT EXISTS
FOR (s:Statement) REQUIRE (s.corpus, s.id) IS UNIQUE;

CREATE INDEX e2g_staged_statement_run IF NOT EXISTS
FOR (s:StagedStatement) ON (s.corpus, s.run, s.id);

CYPHER 25
CREATE VECTOR INDEX e2g_statement_embedding IF NOT EXISTS
FOR (s:Statement) ON s.embedding
WITH [s.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
