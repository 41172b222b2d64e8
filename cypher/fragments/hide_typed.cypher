// Remove the relationships of the typed graph that a statement has made.
// ← about
CALL (about) {
  MATCH (a)<-[:SUBJECT]-(about)-[:OBJECT]->(b)
  MATCH (a)-[typed]-(b)
  WHERE about.id IN typed.statements
  DELETE typed
}
