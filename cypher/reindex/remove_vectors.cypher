// Remove the vectors of a model from at most $limit nodes of a corpus.
// $corpus, $limit
// include: nodes_with_vectors
WITH n LIMIT $limit
REMOVE n.embedding, n.sentence_vectors, n.embedded_name
