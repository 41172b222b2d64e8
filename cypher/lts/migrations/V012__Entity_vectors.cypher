// assume that version is lt 2026.1
// As the file of this name in migrations/, for a server whose vector indexes have no filter.

CREATE VECTOR INDEX e2g_entity_embedding IF NOT EXISTS
FOR (e:Entity) ON e.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
