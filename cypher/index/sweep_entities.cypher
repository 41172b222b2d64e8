// Remove those of the named entities that no chunk mentions any more.
// $corpus, $names
UNWIND $names AS name
MATCH (e:Entity {corpus: $corpus, name: name})
WHERE NOT EXISTS { (e)-[:FROM_CHUNK]->() }
DETACH DELETE e
