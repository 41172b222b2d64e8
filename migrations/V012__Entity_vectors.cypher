// Vectors of the names of entities, filtered by corpus. `e2g enrich` makes them.
//
// `Entity.embedded_name` is the name whose vector is stored: the name of an entity is its most frequent spelling, which
// may change. `Corpus.entity_vectors` is the revision at which all names had vectors.

CYPHER 25
CREATE VECTOR INDEX e2g_entity_embedding IF NOT EXISTS
FOR (e:Entity) ON e.embedding
WITH [e.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
