// Two vector indexes: one of chunks and summaries, filtered by corpus and tree level inside the index; one of the
// windows in which the embedding model read the chunks, filtered by corpus.
//
// The length of the embeddings is a placeholder, in the form that neo4j-migrations replaces too. Vectors are kept
// whole: the server's default, binary quantization, missed about one in ten of the nearest passages of a novel and
// was no faster.

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
