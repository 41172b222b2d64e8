// Write staged chunks, whose edges are not counted. A chunk that stands for a text node of the user's graph has no text
// and no vector of its own; only its windows have vectors.
// $corpus, $corpus_key: its word in the full-text indexes, $fulltext: whether its language has such indexes of its own, $rows: [{id, document,
//   index, text, divided, start, end, tokens, page, heading, own, notes, window_shares, window_pages, window_headings, terms, term_windows, embedding,
//   stands_for: {node, text, key}}]. divided: the text for these indexes, if it is another;
//   own: span of its own text, relative to its start; notes: its packed extraction;
//   window_pages and window_headings: one text for each window, '' for none, or null; terms: the terms of its text, and
//   term_windows: how many of its windows contain each, or null; stands_for: an element id, and the names of the
//   properties with text and key
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.document})
CREATE (c:StagedChunk:UncountedChunk {
  corpus: $corpus, corpus_key: CASE WHEN row.text IS NOT NULL THEN $corpus_key END, id: row.id, document: row.document,
  index: row.index, level: 0, text: row.text,
  start: row.start, end: row.end, tokens: row.tokens, page: row.page, heading: row.heading,
  own: row.own, notes: row.notes, window_shares: row.window_shares,
  window_pages: row.window_pages, window_headings: row.window_headings,
  terms: row.terms, term_windows: row.term_windows
})
SET c.fulltext = CASE WHEN $fulltext THEN coalesce(row.divided, row.text) END,
    c.fulltext_corpus = CASE WHEN $fulltext AND row.text IS NOT NULL THEN $corpus_key END
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
