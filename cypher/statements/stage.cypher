// Write staged statements. One without an object describes its subject.
// $corpus, $run, $rows: [{id, chunk, subject, subject_type, predicate, object, object_type, text, keywords, strength, status,
//   period, embedding}]. subject and object: keys of entities; object, types, status, period: null for none
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.chunk})
MATCH (subject:Entity {corpus: $corpus, key: row.subject})
CREATE (s:StagedStatement {
  corpus: $corpus, run: $run, id: row.id, predicate: row.predicate, text: row.text, keywords: row.keywords,
  strength: row.strength, subject_type: row.subject_type, object_type: row.object_type, status: row.status,
  period: row.period
})
CREATE (s)-[:STATED_IN]->(c)
CREATE (s)-[:SUBJECT]->(subject)
WITH s, row
CALL db.create.setNodeVectorProperty(s, 'embedding', row.embedding)
WITH s, row
MATCH (object:Entity {corpus: $corpus, key: row.object})
CREATE (s)-[:OBJECT]->(object)
