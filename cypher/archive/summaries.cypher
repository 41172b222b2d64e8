// Read the summaries of a corpus, in the order of the ids of their documents, and of their places in these. Notes whose
// vectors are of another model than the corpus has now are left out.
// $corpus
// → level, text, tokens, made_of, notes, vector
MATCH (s:Summary {corpus: $corpus})
WHERE s.document IS NOT NULL
WITH s, coalesce(s.notes_of, 'embedding') = 'embedding' AS own
ORDER BY s.document, s.level, s.index
RETURN s.level AS level, s.text AS text, s.tokens AS tokens, CASE WHEN own THEN s.made_of END AS made_of,
       CASE WHEN own THEN s.notes END AS notes, s.embedding AS vector
ORDER BY s.document, level, s.index
