// List the names and types of properties in a corpus: of the nodes that `archive/nodes` returns (`edge` is false), and of
// relationships (`edge` is true).
// $corpus
// → edge, name, types
CALL () {
  MATCH (n:Document|Chunk|Window|Summary|Entity|Alias|Corpus|Community|Cluster|Statement)
  WHERE n.corpus = $corpus
  UNWIND [name IN keys(n) WHERE NOT name STARTS WITH 'typed' AND name <> 'graph_schema'] AS name
  RETURN false AS edge, name, valueType(n[name]) AS type
  UNION
  MATCH (n:Document|Chunk|Window|Summary|Entity|Alias|Corpus|Community|Cluster|Statement)
  WHERE n.corpus = $corpus
  MATCH (n)-[r]->()
  WHERE r.statements IS NULL
  UNWIND keys(r) AS name
  RETURN true AS edge, name, valueType(r[name]) AS type
}
RETURN edge, name, collect(DISTINCT type) AS types
ORDER BY edge, name
