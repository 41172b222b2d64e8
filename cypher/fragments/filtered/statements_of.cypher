// The statements about an entity in $documents; null: all.
// $documents
// ← e
// → s
MATCH (e)<-[:SUBJECT|OBJECT]-(s:Statement)-[:STATED_IN]->(c:Chunk)
WHERE ($documents IS NULL OR c.document IN $documents)
