// The documents of a corpus, by title: their state and properties, see `fragments/document_state` and
// `fragments/document_rows`.
// $corpus
// → id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
// include: document_state
// include: document_rows
RETURN id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
ORDER BY title, source
