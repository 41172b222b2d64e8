// Hide the communities and the statements of an entity that is gone.
// ← e
CALL (e) {
  MATCH (e)-[:IN_COMMUNITY]->(naming:Community)
  REMOVE naming:Community
  SET naming:OutdatedCommunity
}
CALL (e) {
  MATCH (e)<-[:SUBJECT|OBJECT]-(about:Statement)
  // include: hide_typed
  REMOVE about:Statement
  SET about:E2GRetired
}
