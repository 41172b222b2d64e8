// assume that version is lt 2026.1
// As the file of this name in migrations/, for a server whose vector indexes have no filter.

CREATE CONSTRAINT e2g_community_key IF NOT EXISTS
FOR (c:Community) REQUIRE (c.corpus, c.id) IS UNIQUE;

CREATE INDEX e2g_staged_community_run IF NOT EXISTS
FOR (c:StagedCommunity) ON (c.corpus, c.run, c.id);

CREATE INDEX e2g_outdated_community_corpus IF NOT EXISTS
FOR (c:OutdatedCommunity) ON (c.corpus);

CREATE VECTOR INDEX e2g_community_embedding IF NOT EXISTS
FOR (c:Community) ON c.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
