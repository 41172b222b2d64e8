// Some documents of a corpus, by title, as in `documents`: those after another one.
// $corpus, $state: that of the documents, null for any; $after: an id, null for the first page; $limit
// → id, title, source, state, why, visible, chunks, characters, tokens, properties, losses
OPTIONAL MATCH (last:Document {corpus: $corpus, id: $after})
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
  AND ($after IS NULL OR d.title > last.title OR d.title = last.title AND d.source > last.source)
// include: document_state
WITH d, state, why
WHERE $state IS NULL OR state = $state
WITH d, state, why ORDER BY d.title, d.source LIMIT $limit
// include: document_rows
RETURN id, title, source, state, why, visible, chunks, characters, tokens, properties, losses
ORDER BY title, source
