// At most $limit statements, in the order of their ids.
// $corpus, $after: an id, $limit
// → id, subject, subject_type, predicate, object, object_type, status, period, text. subject and object: keys of
//   entities; object, types, status and period: null for none
MATCH (s:Statement {corpus: $corpus})
WHERE s.id > $after
WITH s ORDER BY s.id LIMIT $limit
MATCH (s)-[:SUBJECT]->(subject:Entity)
OPTIONAL MATCH (s)-[:OBJECT]->(object:Entity)
RETURN s.id AS id, subject.key AS subject, s.subject_type AS subject_type, s.predicate AS predicate,
       object.key AS object, s.object_type AS object_type, s.status AS status, s.period AS period,
       s.text AS text
ORDER BY id
