// The statements about an entity.
// ← e
// → s
MATCH (e)<-[:SUBJECT|OBJECT]-(s:Statement)
