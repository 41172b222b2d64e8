// assume that version is lt 2026.1
// As the file of this name in migrations/, for a server whose vector indexes have one label and no filter.

// part: core
CREATE VECTOR INDEX e2g_embedding IF NOT EXISTS
FOR (n:Chunk) ON n.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

CREATE VECTOR INDEX e2g_summary_embedding IF NOT EXISTS
FOR (s:Summary) ON s.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

CREATE VECTOR INDEX e2g_window_embedding IF NOT EXISTS
FOR (w:Window) ON w.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

CREATE VECTOR INDEX e2g_entity_embedding IF NOT EXISTS
FOR (e:Entity) ON e.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: communities
CREATE VECTOR INDEX e2g_community_embedding IF NOT EXISTS
FOR (c:Community) ON c.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: clusters
CREATE VECTOR INDEX e2g_cluster_embedding IF NOT EXISTS
FOR (c:Cluster) ON c.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// part: statements
CREATE VECTOR INDEX e2g_statement_embedding IF NOT EXISTS
FOR (s:Statement) ON s.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
