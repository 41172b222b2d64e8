// The chunks of $documents, and the clusters, nearest to a vector. Chunks are compared one by one; in an adopted corpus,
// the windows of chunks.
//
// A cluster is found if all of its chunks are of these documents. The summary of another one may quote other documents,
// so its chunks of these documents stand for it: each has at least the mean of their scores.
// $documents, $corpus, $vector, $k
// → n, score: (1 + cosine) / 2
CALL () {
  CALL () {
    MATCH (c:Chunk {corpus: $corpus})
    WHERE c.document IN $documents AND c.embedding IS NOT NULL
    RETURN c, vector.similarity.cosine(c.embedding, $vector) AS score
    UNION ALL
    MATCH (corpus:Corpus {corpus: $corpus})
    WHERE corpus.adopts IS NOT NULL
    MATCH (w:Window {corpus: $corpus})-[:PART_OF]->(c:Chunk)
    WHERE w.document IN $documents
    RETURN c, max(vector.similarity.cosine(w.embedding, $vector)) AS score
  }
  RETURN collect({chunk: c, score: score}) AS chunks
}
CALL (chunks) {
  UNWIND chunks AS one
  WITH one.chunk AS c, one.score AS score
  MATCH (c)-[:IN_CLUSTER*1..5]->(n:Cluster)
  WITH DISTINCT n, c, score
  WITH n, collect(c) AS inside, avg(score) AS mean
  RETURN collect({cluster: n, whole: size(inside) = n.chunks, inside: inside, mean: mean}) AS clusters
}
CALL (chunks, clusters) {
  UNWIND chunks AS one
  RETURN one.chunk AS n, one.score AS score, one.score AS own
  UNION ALL
  UNWIND [one IN clusters WHERE NOT one.whole] AS one
  UNWIND one.inside AS n
  RETURN n, one.mean AS score, null AS own
  UNION ALL
  UNWIND [one IN clusters WHERE one.whole | one.cluster] AS n
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score
  RETURN n, score, score AS own
}
WITH n, max(score) AS score, max(own) AS own ORDER BY round(score, 5) DESC, round(own, 5) DESC, n.id LIMIT $k
