// Set the parents of communities, and remove former ones.
// $corpus, $rows: [{id, parent}]. No parent: null
UNWIND $rows AS row
MATCH (c:Community {corpus: $corpus, id: row.id})
CALL (c, row) {
  MATCH (c)-[r:PARENT]->(former)
  WHERE row.parent IS NULL OR former.id <> row.parent
  DELETE r
}
WITH c, row
MATCH (parent:Community {corpus: $corpus, id: row.parent})
MERGE (c)-[:PARENT]->(parent)
