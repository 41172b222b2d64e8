// One document, as in `documents`.
// $corpus, $document: its id
// → id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
MATCH (d:Document {corpus: $corpus, id: $document})
// include: document_state
// include: document_rows
RETURN id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
