// The vectors of windows, filtered by corpus inside the index; whole, as in the index of chunks and summaries.

CYPHER 25
CREATE VECTOR INDEX e2g_window_embedding IF NOT EXISTS
FOR (w:Window) ON w.embedding
WITH [w.corpus]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
