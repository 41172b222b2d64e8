// The documents that a name may stand for, as in `documents`, at most six: first those with this id or source, then those
// of this file, then those with this title.
// $corpus, $name, $path: the name as an absolute path
// → id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL AND ($name IN [d.id, d.source, d.title] OR d.source IN [$path, 'upload:' + $name]
  OR d.source ENDS WITH '/' + $name)
WITH d, CASE WHEN $name IN [d.id, d.source] THEN 0 WHEN d.source = $path THEN 1 WHEN d.title = $name THEN 2 ELSE 3 END AS rank
ORDER BY rank, d.title, d.source LIMIT 6
// include: document_state
WITH d, state, why
// include: document_rows
RETURN id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
