// Remove the visible nodes of documents. Entities left without a chunk go too; edges are adjusted apart.
// $corpus, $documents: [id]
UNWIND $documents AS document
CALL (document) {
  MATCH (n:Chunk {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:Summary {corpus: $corpus, document: document}) RETURN n
}
DETACH DELETE n
