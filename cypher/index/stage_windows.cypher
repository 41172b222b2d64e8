// Write the windows of staged chunks. Windows of a chunk without a text have none either.
// $corpus, $corpus_key, $rows: [{id, document, chunk, index, text, start, end, embedding}]
UNWIND $rows AS row
MATCH (c:StagedChunk {corpus: $corpus, id: row.chunk})
CREATE (w:StagedWindow {
  corpus: $corpus, corpus_key: CASE WHEN row.text IS NOT NULL THEN $corpus_key END, id: row.id, document: row.document,
  index: row.index, text: row.text, start: row.start, end: row.end
})
CREATE (w)-[:PART_OF]->(c)
WITH w, row
CALL db.create.setNodeVectorProperty(w, 'embedding', row.embedding)
