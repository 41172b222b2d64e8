// List the names and types of properties in a corpus: of the nodes that `archive/nodes` returns (`edge` is false), and of
// relationships (`edge` is true).
// $corpus
// → edge, name, types
CALL () {
  MATCH (n)
  WHERE n.corpus = $corpus AND NOT n:E2GRun AND NOT n:E2GLock AND NOT n:E2GImport AND NOT n:E2GRetired
    AND NOT n:StagedCommunity AND NOT n:OutdatedCommunity AND NOT n:StagedCluster AND NOT n:OutdatedCluster
    AND NOT n:StagedStatement
  UNWIND keys(n) AS name
  RETURN false AS edge, name, valueType(n[name]) AS type
  UNION
  MATCH (n)
  WHERE n.corpus = $corpus AND NOT n:E2GRetired
  MATCH (n)-[r]->(other)
  WHERE NOT other:E2GRetired
  UNWIND keys(r) AS name
  RETURN true AS edge, name, valueType(r[name]) AS type
}
RETURN edge, name, collect(DISTINCT type) AS types
ORDER BY edge, name
