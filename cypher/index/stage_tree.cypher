// Hang nodes under their summaries.
// $corpus, $rows: [{child, parent}]
UNWIND $rows AS row
MATCH (parent:StagedSummary {corpus: $corpus, id: row.parent})
CALL (row) {
  MATCH (child:StagedChunk {corpus: $corpus, id: row.child}) RETURN child
  UNION ALL
  MATCH (child:StagedSummary {corpus: $corpus, id: row.child}) RETURN child
}
CREATE (child)-[:CHILD_OF]->(parent)
