// Add members to staged clusters: chunks, clusters that stay as they are, or other staged ones.
// $corpus, $run, $rows: [{id, member, kind}]. kind: 'chunk', 'kept' or 'staged'
UNWIND $rows AS row
MATCH (c:StagedCluster {corpus: $corpus, run: $run, id: row.id})
CALL (row) {
  WITH row WHERE row.kind = 'chunk'
  MATCH (member:Chunk {corpus: $corpus, id: row.member})
  RETURN member
  UNION ALL
  WITH row WHERE row.kind = 'kept'
  MATCH (member:Cluster {corpus: $corpus, id: row.member})
  RETURN member
  UNION ALL
  WITH row WHERE row.kind = 'staged'
  MATCH (member:StagedCluster {corpus: $corpus, run: $run, id: row.member})
  RETURN member
}
CREATE (member)-[:IN_CLUSTER]->(c)
