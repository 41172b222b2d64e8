// List the visible summaries of a document, with their input hash and the id of the parent summary.
// $corpus, $document
// → id, index, start, end, text, made_of, notes, parent
MATCH (s:Summary {corpus: $corpus, document: $document})
RETURN s.id AS id, s.index AS index, s.start AS start, s.end AS end, s.text AS text, s.made_of AS made_of,
       s.notes AS notes, [(s)-[:CHILD_OF]->(p:Summary) | p.id][0] AS parent
