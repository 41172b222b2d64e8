// Write chunks, not visible yet, and their edges not counted. One that stands for a text node of somebody else's has no
// text of its own, and no vector but those of its windows.
// $corpus, $corpus_key: its word in the full-text indexes, $rows: [{id, document, index, text, start, end, tokens, page, heading, own, notes,
//   window_shares, embedding, stands_for: {node, text, key}}]. own: from where to where its own sentences begin, from its
//   start on; notes: what the pipeline found in it; stands_for: an element id, and the names of two properties
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.document})
CREATE (c:StagedChunk:UncountedChunk {
  corpus: $corpus, corpus_key: CASE WHEN row.text IS NOT NULL THEN $corpus_key END, id: row.id, document: row.document,
  index: row.index, level: 0, text: row.text,
  start: row.start, end: row.end, tokens: row.tokens, page: row.page, heading: row.heading,
  own: row.own, notes: row.notes, window_shares: row.window_shares
})
CREATE (c)-[:FROM_DOCUMENT]->(d)
WITH c, row
CALL (c, row) {
  MATCH (theirs)
  WHERE elementId(theirs) = row.stands_for.node
  CREATE (c)-[:STANDS_FOR {text: row.stands_for.text, key: row.stands_for.key}]->(theirs)
}
WITH c, row
WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(c, 'embedding', row.embedding)
