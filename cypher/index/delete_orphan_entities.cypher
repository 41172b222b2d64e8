// Remove those of the given entities that no chunk mentions any more, and hide their communities
// and statements.
// $corpus, $keys
UNWIND $keys AS key
MATCH (e:Entity {corpus: $corpus, key: key})
WHERE NOT EXISTS { (e)-[:FROM_CHUNK]->(c) WHERE NOT c:E2GRetired }
CALL (e) {
  MATCH (e)-[:IN_COMMUNITY]->(naming:Community)
  REMOVE naming:Community
  SET naming:OutdatedCommunity
}
CALL (e) {
  MATCH (e)<-[:SUBJECT|OBJECT]-(about:Statement)
  REMOVE about:Statement
  SET about:E2GRetired
}
DETACH DELETE e
