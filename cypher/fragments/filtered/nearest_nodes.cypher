// The chunks and summaries of $documents nearest to a vector. They are compared one by one; in an adopted corpus, the
// windows of chunks. A summary is of one document.
// $documents, $corpus, $vector, $k
// → n, score: (1 + cosine) / 2
CALL () {
  MATCH (n:Chunk {corpus: $corpus})
  WHERE n.document IN $documents AND n.embedding IS NOT NULL
  RETURN n, vector.similarity.cosine(n.embedding, $vector) AS score
  UNION ALL
  MATCH (n:Summary {corpus: $corpus})
  WHERE n.document IN $documents
  RETURN n, vector.similarity.cosine(n.embedding, $vector) AS score
  UNION ALL
  MATCH (c:Corpus {corpus: $corpus})
  WHERE c.adopts IS NOT NULL
  MATCH (w:Window {corpus: $corpus})-[:PART_OF]->(n:Chunk)
  WHERE w.document IN $documents
  RETURN n, max(vector.similarity.cosine(w.embedding, $vector)) AS score
}
WITH n, score ORDER BY round(score, 5) DESC, n.id LIMIT $k
