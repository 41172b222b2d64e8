// Give up what an interrupted run left of these documents, and entities that nothing else mentions; `index/clean` removes
// them. Staged nodes carry labels of their own, so that no index and no query sees them before they are published.
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
FOREACH (n IN staged | REMOVE n:StagedChunk:UncountedChunk:StagedWindow:StagedSummary SET n:E2GRetired)
WITH entities
UNWIND entities AS e
WITH e
WHERE NOT EXISTS { (e)-[:FROM_CHUNK]->(c) WHERE NOT c:E2GRetired }
REMOVE e:Entity
SET e:E2GRetired
