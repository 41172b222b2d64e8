// Write chunks, not visible yet.
// $corpus, $corpus_key: its word in the full-text indexes, $rows: [{id, document, index, text, start, end, tokens, page, heading, own, notes,
//   window_shares, embedding}]. own: from where to where its own sentences begin, from its start on; notes: what the
//   pipeline found in it
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.document})
CREATE (c:StagedChunk {
  corpus: $corpus, corpus_key: $corpus_key, id: row.id, document: row.document, index: row.index, level: 0, text: row.text,
  start: row.start, end: row.end, tokens: row.tokens, page: row.page, heading: row.heading,
  own: row.own, notes: row.notes, window_shares: row.window_shares
})
CREATE (c)-[:FROM_DOCUMENT]->(d)
WITH c, row
CALL db.create.setNodeVectorProperty(c, 'embedding', row.embedding)
