// At most $limit statements, in the order of their ids.
// $corpus, $after: an id, $limit
// → id, chunk, subject, object, text, strength, status, period. subject and object: keys of entities; null without one
MATCH (s:Statement {corpus: $corpus})
WHERE s.id > $after
WITH s ORDER BY s.id LIMIT $limit
MATCH (subject:Entity)<-[:SUBJECT]-(s)-[:STATED_IN]->(c:Chunk)
OPTIONAL MATCH (s)-[:OBJECT]->(object:Entity)
RETURN s.id AS id, c.id AS chunk, subject.key AS subject, object.key AS object, s.text AS text, s.strength AS strength,
       s.status AS status, s.period AS period
ORDER BY id
