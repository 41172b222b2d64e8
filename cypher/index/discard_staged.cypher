// Remove what an interrupted run left of these documents, entities that nothing else mentions included. Staged nodes carry labels of their own, so that
// no index and no query sees them before they are published.
// $corpus, $documents: [id]
// → discarded
UNWIND $documents AS document
CALL (document) {
  MATCH (n:StagedChunk {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:StagedWindow {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:StagedSummary {corpus: $corpus, document: document}) RETURN n
}
OPTIONAL MATCH (n)<-[:FROM_CHUNK]-(e:Entity)
WITH collect(DISTINCT n) AS staged, collect(DISTINCT e) AS entities
FOREACH (n IN staged | DETACH DELETE n)
WITH staged, entities
UNWIND CASE entities WHEN [] THEN [NULL] ELSE entities END AS e
OPTIONAL MATCH (e)-[left:FROM_CHUNK]->()
WITH staged, e, count(left) AS mentions
FOREACH (orphan IN CASE WHEN e IS NOT NULL AND mentions = 0 THEN [e] ELSE [] END | DETACH DELETE orphan)
RETURN DISTINCT size(staged) AS discarded
