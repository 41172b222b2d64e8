// Remove the visible chunks, windows and summaries of documents. Entities and their edges are adjusted apart.
// $corpus, $documents: [id]
UNWIND $documents AS document
CALL (document) {
  MATCH (n:Chunk {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:Window {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:Summary {corpus: $corpus, document: document}) RETURN n
}
DETACH DELETE n
