// Remove what an interrupted run left of these documents, and entities that nothing else mentions. Staged nodes carry
// labels of their own, so that no index and no query sees them before they are published.
// $corpus, $documents: [id]
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
WITH entities
UNWIND entities AS e
OPTIONAL MATCH (e)-[left:FROM_CHUNK]->()
WITH e, count(left) AS mentions
WHERE mentions = 0
DETACH DELETE e
