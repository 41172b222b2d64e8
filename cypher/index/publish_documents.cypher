// Set documents to `ready`. Queries see them from the end of this transaction.
// $corpus, $rows: [{id, title, source, sha256, chunker, extractor, characters, tokens, chunks, windows,
//   persistence, term_windows}]
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.id})
SET d.title = row.title, d.source = row.source, d.sha256 = row.sha256, d.chunker = row.chunker,
    d.extractor = row.extractor, d.characters = row.characters, d.tokens = row.tokens, d.chunks = row.chunks,
    d.windows = row.windows, d.persistence = row.persistence, d.term_windows = row.term_windows,
    d.state = 'ready'
REMOVE d.run, d.work, d.error
