// List the visible summaries of a document, with their input hash and the id of the parent summary. There is no hash if
// the vectors in the notes are of another model than the corpus has now: the summary is not used again then.
// $corpus, $document
// → id, index, start, end, text, made_of, notes, parent
MATCH (s:Summary {corpus: $corpus, document: $document})
RETURN s.id AS id, s.index AS index, s.start AS start, s.end AS end, s.text AS text,
       CASE WHEN coalesce(s.notes_of, 'embedding') = 'embedding' THEN s.made_of END AS made_of, s.notes AS notes,
       [(s)-[:CHILD_OF]->(p:Summary) | p.id][0] AS parent
