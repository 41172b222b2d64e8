// Some documents of a corpus, by title, as in `documents`: those after another one.
// $corpus, $state: that of the documents, null for any; $after: an id, null for the first page; $limit
// $newest: first those that were never indexed, then those that changed last
// → id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
OPTIONAL MATCH (last:Document {corpus: $corpus, id: $after})
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
WITH d, last, CASE WHEN $newest THEN -coalesce(d.changed, 9007199254740991) ELSE 0 END AS place,
     CASE WHEN $newest THEN -coalesce(last.changed, 9007199254740991) ELSE 0 END AS reached
WHERE $after IS NULL OR place > reached OR place = reached
  AND (d.title > last.title OR d.title = last.title AND d.source > last.source)
// include: document_state
WITH d, state, why
WHERE $state IS NULL OR state = $state
WITH d, state, why
ORDER BY CASE WHEN $newest THEN -coalesce(d.changed, 9007199254740991) ELSE 0 END, d.title, d.source LIMIT $limit
// include: document_rows
RETURN id, title, source, state, why, visible, chunks, characters, tokens, properties, losses, language, changed
ORDER BY CASE WHEN $newest THEN -coalesce(changed, 9007199254740991) ELSE 0 END, title, source
