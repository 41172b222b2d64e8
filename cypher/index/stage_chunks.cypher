// Write chunks, not visible yet.
// $corpus, $rows: [{id, document, index, text, start, end, tokens, page, heading, embedding}]
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.document})
CREATE (c:StagedChunk {
  corpus: $corpus, id: row.id, document: row.document, index: row.index, level: 0, text: row.text,
  start: row.start, end: row.end, tokens: row.tokens, page: row.page, heading: row.heading
})
CREATE (c)-[:FROM_DOCUMENT]->(d)
WITH c, row
CALL db.create.setNodeVectorProperty(c, 'embedding', row.embedding)
