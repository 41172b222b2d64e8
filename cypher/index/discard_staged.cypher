// Remove what an interrupted run left of these documents. Staged nodes carry labels of their own, so that
// no index and no query sees them before they are published.
// $corpus, $documents: [id]
// → discarded
UNWIND $documents AS document
CALL (document) {
  MATCH (n:StagedChunk {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:StagedSummary {corpus: $corpus, document: document}) RETURN n
}
DETACH DELETE n
RETURN count(n) AS discarded
