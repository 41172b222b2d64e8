// Write staged summaries.
// $corpus, $rows: [{id, document, level, index, text, tokens, start, end, made_of, notes, embedding}]
UNWIND $rows AS row
CREATE (s:StagedSummary {
  corpus: $corpus, id: row.id, document: row.document, level: row.level, index: row.index, text: row.text,
  tokens: row.tokens, start: row.start, end: row.end, made_of: row.made_of, notes: row.notes
})
WITH s, row
CALL db.create.setNodeVectorProperty(s, 'embedding', row.embedding)
