// Write vectors of visible nodes, unless their texts have changed meanwhile. The vectors in the notes of a summary stay: it
// is noted of which model they are.
// $corpus, $rows: [{label, id, version, embedding}], $notes_of: the property with the vectors of the present model
UNWIND $rows AS row
CALL (row) {
  WITH row WHERE row.label = 'Window'
  MATCH (n:Window {corpus: $corpus, id: row.id})
  RETURN n
  UNION ALL
  WITH row WHERE row.label = 'Chunk'
  MATCH (n:Chunk {corpus: $corpus, id: row.id})
  RETURN n
  UNION ALL
  WITH row WHERE row.label = 'Summary'
  MATCH (n:Summary {corpus: $corpus, id: row.id})
  SET n.notes_of = CASE WHEN n.notes IS NOT NULL THEN coalesce(n.notes_of, $notes_of) END
  RETURN n
  UNION ALL
  WITH row WHERE row.label = 'Community'
  MATCH (n:Community {corpus: $corpus, id: row.id, report_sha256: row.version})
  RETURN n
  UNION ALL
  WITH row WHERE row.label = 'Cluster'
  MATCH (n:Cluster {corpus: $corpus, id: row.id, text_sha256: row.version})
  RETURN n
  UNION ALL
  WITH row WHERE row.label = 'Statement'
  MATCH (n:Statement {corpus: $corpus, id: row.id})
  RETURN n
}
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
