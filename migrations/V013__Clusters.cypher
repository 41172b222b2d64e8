// Clusters of chunks and of other clusters, with a summary each.
//
// `Corpus.clusters` is the revision that the clusters of a corpus were made from. Staged clusters are those of a run that
// is making them, outdated ones have a chunk below them that is gone: no query sees them. The vectors of outdated ones
// are used again, if new clusters have the same summaries.

CREATE CONSTRAINT e2g_cluster_key IF NOT EXISTS
FOR (c:Cluster) REQUIRE (c.corpus, c.id) IS UNIQUE;

CREATE INDEX e2g_staged_cluster_run IF NOT EXISTS
FOR (c:StagedCluster) ON (c.corpus, c.run, c.id);

CREATE INDEX e2g_outdated_cluster_corpus IF NOT EXISTS
FOR (c:OutdatedCluster) ON (c.corpus);

CYPHER 25
CREATE VECTOR INDEX e2g_cluster_embedding IF NOT EXISTS
FOR (c:Cluster) ON c.embedding
WITH [c.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
