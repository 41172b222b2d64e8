// Write staged statements. One without an object describes its subject.
// $corpus, $run, $rows: [{id, chunk, subject, predicate, object, text, keywords, strength, embedding}]. subject and
//   object: keys of entities; object: null for none
UNWIND $rows AS row
MATCH (c:Chunk {corpus: $corpus, id: row.chunk})
MATCH (subject:Entity {corpus: $corpus, key: row.subject})
CREATE (s:StagedStatement {
  corpus: $corpus, run: $run, id: row.id, predicate: row.predicate, text: row.text, keywords: row.keywords,
  strength: row.strength
})
CREATE (s)-[:STATED_IN]->(c)
CREATE (s)-[:SUBJECT]->(subject)
WITH s, row
CALL db.create.setNodeVectorProperty(s, 'embedding', row.embedding)
WITH s, row
MATCH (object:Entity {corpus: $corpus, key: row.object})
CREATE (s)-[:OBJECT]->(object)
