// Hide the visible chunks, windows and summaries of documents from all queries, except unchanged ones, and entities
// that no other chunk mentions. So are communities that quote such a chunk or have such an entity, clusters that are above
// such a chunk, statements of such a chunk or about such an entity, and descriptions from such a chunk or statement. Edges of visible chunks are updated before;
// `index/purge` removes the nodes.
// $corpus, $rows: [{document, chunks: [id], summaries: [id]}] of unchanged nodes
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Chunk {corpus: $corpus, document: row.document}) WHERE NOT n.id IN row.chunks RETURN n
  UNION ALL
  MATCH (c:Chunk {corpus: $corpus, document: row.document})<-[:PART_OF]-(n:Window)
  WHERE NOT c.id IN row.chunks
  RETURN n
  UNION ALL
  MATCH (n:Summary {corpus: $corpus, document: row.document}) WHERE NOT n.id IN row.summaries RETURN n
}
OPTIONAL MATCH (n)<-[:FROM_CHUNK]-(e:Entity)
WITH collect(DISTINCT n) AS gone, collect(DISTINCT e) AS entities
FOREACH (n IN gone | REMOVE n:Chunk:UncountedChunk:Window:Summary SET n:E2GRetired)
WITH gone, entities
CALL (gone) {
  UNWIND gone AS n
  MATCH (n)<-[:QUOTES]-(quoting:Community)
  REMOVE quoting:Community
  SET quoting:OutdatedCommunity
}
CALL (gone) {
  UNWIND gone AS n
  MATCH (n)-[:IN_CLUSTER*1..5]->(above:Cluster)
  WITH DISTINCT above
  REMOVE above:Cluster
  SET above:OutdatedCluster
}
CALL (gone) {
  UNWIND gone AS n
  MATCH (n)<-[:STATED_IN]-(about:Statement)
  // include: hide_typed
  REMOVE about:Statement
  SET about:E2GRetired
  WITH about
  MATCH (about)-[:SUBJECT]->(described:Entity)
  REMOVE described.description, described.description_chunk
}
CALL (gone) {
  UNWIND gone AS n
  MATCH (n)<-[:FROM_CHUNK]-(described:Entity)
  WHERE described.description_chunk = n.id
  REMOVE described.description, described.description_chunk
}
UNWIND entities AS e
WITH e
WHERE NOT EXISTS { (e)-[:FROM_CHUNK]->(c) WHERE NOT c:E2GRetired }
REMOVE e:Entity:$(CASE WHEN e.typed_label IS NULL THEN [] ELSE [e.typed_label] END)
SET e:E2GRetired
WITH e
// include: hide_about
