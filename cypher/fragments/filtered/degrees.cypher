// How many statements there are in $documents about the ends of a relation, a and b; null: all. Those of an entity are
// counted once.
// $documents
// ← s, a, b, inside, links
// → s, inside, links, degree
WITH a, collect({statement: s, b: b, inside: inside, links: links}) AS of_a
WITH of_a, COUNT {
  (a)<-[:SUBJECT|OBJECT]-(:Statement)-[:STATED_IN]->(c:Chunk)
  WHERE ($documents IS NULL OR c.document IN $documents)
} AS degree
UNWIND of_a AS one
WITH one.b AS b, collect([one, degree]) AS of_b
WITH of_b, COUNT {
  (b)<-[:SUBJECT|OBJECT]-(:Statement)-[:STATED_IN]->(c:Chunk)
  WHERE ($documents IS NULL OR c.document IN $documents)
} AS degree
UNWIND of_b AS one
WITH one[0].statement AS s, one[0].inside AS inside, one[0].links AS links, one[1] + degree AS degree
