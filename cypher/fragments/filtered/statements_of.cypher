// The statements about an entity in $documents, in chunks that end at $until or before; null: all.
// $documents, $until
// ← e
// → s
MATCH (e)<-[:SUBJECT|OBJECT]-(s:Statement)-[:STATED_IN]->(c:Chunk)
WHERE ($documents IS NULL OR c.document IN $documents) AND ($until IS NULL OR c.end <= $until)
