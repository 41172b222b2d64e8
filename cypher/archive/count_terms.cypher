// Write the terms of imported chunks, and add them to those of the corpus.
// $corpus, $chunks: [{id, terms, term_windows}], $rows: [{term, windows}]
CALL () {
  UNWIND $chunks AS row
  MATCH (c:Chunk {corpus: $corpus, id: row.id})
  SET c.terms = row.terms, c.term_windows = row.term_windows
}
UNWIND $rows AS row
MERGE (t:Term {term: row.term, corpus: $corpus})
ON CREATE SET t:E2GImported, t.import_key = 'term ' + row.term, t.windows = row.windows
ON MATCH SET t.windows = t.windows + row.windows
