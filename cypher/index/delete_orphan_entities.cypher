// Remove those of the given entities that no chunk mentions any more, and hide their communities
// and statements.
// $corpus, $keys
UNWIND $keys AS key
MATCH (e:Entity {corpus: $corpus, key: key})
WHERE NOT EXISTS { (e)-[:FROM_CHUNK]->(c) WHERE NOT c:E2GRetired }
// include: hide_about
DETACH DELETE e
