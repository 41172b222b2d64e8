// Remove Document nodes, after everything else of the documents was removed. Chunks that refer to them are to be read again.
// $corpus, $documents: [id]
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents
CALL (d) {
  MATCH (d)<-[:REFERS_TO]-(c:Chunk)
  SET c:UnlinkedChunk
}
DETACH DELETE d
