// Connect nodes to the summaries that now cover them. The nodes of the top level get no parent.
// $corpus, $rows: [{child, parent}]
UNWIND $rows AS row
CALL (row) {
  MATCH (child:Chunk {corpus: $corpus, id: row.child}) RETURN child
  UNION ALL
  MATCH (child:Summary {corpus: $corpus, id: row.child}) RETURN child
}
OPTIONAL MATCH (child)-[before:CHILD_OF]->()
DELETE before
WITH child, row
MATCH (parent:Summary {corpus: $corpus, id: row.parent})
CREATE (child)-[:CHILD_OF]->(parent)
