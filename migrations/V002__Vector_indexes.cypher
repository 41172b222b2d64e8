// The vector indexes. Searches are filtered by corpus inside the index, those of chunks and summaries, and of
// communities, also by level. Windows are what the embedding model reads of a chunk.
//
// The length of the embeddings is a placeholder, in the form that neo4j-migrations replaces too. Vectors are kept
// whole: before 2026.08, the server's default, binary quantization, missed about one in ten of the nearest passages of
// a novel and was no faster.

// part: core
CYPHER 25
CREATE VECTOR INDEX e2g_embedding IF NOT EXISTS
FOR (n:Chunk|Summary) ON n.embedding
WITH [n.corpus, n.level]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

CYPHER 25
CREATE VECTOR INDEX e2g_window_embedding IF NOT EXISTS
FOR (w:Window) ON w.embedding
WITH [w.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
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
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: communities
CYPHER 25
CREATE VECTOR INDEX e2g_community_embedding IF NOT EXISTS
FOR (c:Community) ON c.embedding
WITH [c.corpus, c.level]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: clusters
CYPHER 25
CREATE VECTOR INDEX e2g_cluster_embedding IF NOT EXISTS
FOR (c:Cluster) ON c.embedding
WITH [c.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: statements
CYPHER 25
CREATE VECTOR INDEX e2g_statement_embedding IF NOT EXISTS
FOR (s:Statement) ON s.embedding
WITH [s.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
