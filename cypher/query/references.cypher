// Which documents refer to which, or all that refer to $document or that it refers to if it is not null: at most $limit, by
// their titles.
// $corpus, $document: id or null, $limit
// → document_id, document, target_id, target, kind, text, number
MATCH (d:Document {corpus: $corpus, state: 'ready'})<-[:FROM_DOCUMENT]-(c:Chunk)-[r:REFERS_TO]->(t:Document)
WHERE $document IS NULL OR $document IN [d.id, t.id]
WITH d, t, r ORDER BY c.index
WITH d, t, collect(r) AS found
ORDER BY d.title, t.title, d.id, t.id LIMIT $limit
RETURN d.id AS document_id, d.title AS document, t.id AS target_id, t.title AS target,
       found[0].kind AS kind, found[0].text AS text, size(found) AS number
