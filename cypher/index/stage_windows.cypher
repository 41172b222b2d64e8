// Write the windows of staged chunks. Windows of a chunk without a text have none either.
// $corpus, $corpus_key, $fulltext: whether its language has full-text indexes of its own, $rows: [{id, document, chunk,
//   index, text, divided: the text for these indexes, if it is another, start, end, embedding}]
UNWIND $rows AS row
MATCH (c:StagedChunk {corpus: $corpus, id: row.chunk})
CREATE (w:StagedWindow {
  corpus: $corpus, corpus_key: CASE WHEN row.text IS NOT NULL THEN $corpus_key END, id: row.id, document: row.document,
  index: row.index, text: row.text, start: row.start, end: row.end
})
SET w.fulltext = CASE WHEN $fulltext THEN coalesce(row.divided, row.text) END,
    w.fulltext_corpus = CASE WHEN $fulltext AND row.text IS NOT NULL THEN $corpus_key END
CREATE (w)-[:PART_OF]->(c)
WITH w, row
CALL db.create.setNodeVectorProperty(w, 'embedding', row.embedding)
