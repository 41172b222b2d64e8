// Which documents refer to which, or all that refer to $document or that it refers to if it is not null: at most $limit, by
// their titles.
// $corpus, $document: id or null, $limit
// → document_id, document, target_id, target, kind, text, number
CALL () {
  WITH * WHERE $document IS NULL
  MATCH (d:Document {corpus: $corpus, state: 'ready'})
  RETURN d, null AS target
  UNION
  MATCH (d:Document {corpus: $corpus, id: $document})
  RETURN d, null AS target
  UNION
  MATCH (target:Document {corpus: $corpus, id: $document})<-[:REFERS_TO]-(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
  WHERE d <> target
  RETURN DISTINCT d, target
}
WITH d, target ORDER BY d.title, d.id
WHERE d.state = 'ready'
CALL (d, target) {
  MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)-[r:REFERS_TO]->(t:Document)
  WHERE target IS NULL OR t = target
  WITH t, r ORDER BY c.index
  RETURN t, collect(r) AS found ORDER BY t.title, t.id LIMIT $limit
}
WITH d, t, found LIMIT $limit
RETURN d.id AS document_id, d.title AS document, t.id AS target_id, t.title AS target,
       found[0].kind AS kind, found[0].text AS text, size(found) AS number
