// Replace what chunks refer to.
// $corpus, $rows: [{chunk, references: [{document, kind, text, windows: [number]}]}]
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.chunk})
REMOVE c:UnlinkedChunk
WITH c, row
CALL (c) {
  MATCH (c)-[r:REFERS_TO]->(:Document)
  DELETE r
}
CALL (c, row) {
  UNWIND row.references AS one
  MATCH (d:Document {corpus: $corpus, id: one.document})
  CREATE (c)-[:REFERS_TO {kind: one.kind, text: one.text, windows: one.windows}]->(d)
}
