// Set the words by which texts name documents. Their chunks, and those that refer to them, are to be read again.
// $corpus, $rows: [{id, title_key}]
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.id})
SET d.title_key = row.title_key
WITH d
CALL (d) {
  MATCH (c:Chunk {corpus: $corpus, document: d.id})
  SET c:UnlinkedChunk
}
CALL (d) {
  MATCH (d)<-[:REFERS_TO]-(c:Chunk)
  SET c:UnlinkedChunk
}
