// Write the windows of staged chunks, not visible yet.
// $corpus, $corpus_key, $rows: [{id, document, chunk, index, text, start, end, embedding}]
UNWIND $rows AS row
MATCH (c:StagedChunk {corpus: $corpus, id: row.chunk})
CREATE (w:StagedWindow {
  corpus: $corpus, corpus_key: $corpus_key, id: row.id, document: row.document, index: row.index, text: row.text, start: row.start, end: row.end
})
CREATE (w)-[:PART_OF]->(c)
WITH w, row
CALL db.create.setNodeVectorProperty(w, 'embedding', row.embedding)
