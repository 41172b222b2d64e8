// assume that version is lt 2026.1
// As the file of this name in migrations/, for a server whose vector indexes have no filter.

CREATE CONSTRAINT e2g_cluster_key IF NOT EXISTS
FOR (c:Cluster) REQUIRE (c.corpus, c.id) IS UNIQUE;

CREATE INDEX e2g_staged_cluster_run IF NOT EXISTS
FOR (c:StagedCluster) ON (c.corpus, c.run, c.id);

CREATE INDEX e2g_outdated_cluster_corpus IF NOT EXISTS
FOR (c:OutdatedCluster) ON (c.corpus);

CREATE VECTOR INDEX e2g_cluster_embedding IF NOT EXISTS
FOR (c:Cluster) ON c.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
