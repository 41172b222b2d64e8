// Discard what an interrupted run staged of documents, and entities that no other chunk mentions. `index/purge` removes
// the nodes. Staged nodes have labels of their own, so that no index or query sees them before they are published.
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
