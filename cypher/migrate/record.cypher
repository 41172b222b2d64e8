// Append an applied migration to the chain, as neo4j-migrations does. The chain starts with a node BASELINE.
// $previous, $version, $description, $source, $checksum, $milliseconds, $by, $connected_as
OPTIONAL MATCH (found:__Neo4jMigration {version: $previous})
WHERE found.migrationTarget IS NULL
CALL (found) {
  WITH * WHERE found IS NOT NULL
  RETURN found AS previous
  UNION ALL
  WITH * WHERE found IS NULL
  CREATE (made:__Neo4jMigration {version: $previous})
  RETURN made AS previous
}
CREATE (previous)-[:MIGRATED_TO {
  at: datetime({timezone: 'UTC'}), in: duration({milliseconds: $milliseconds}), by: $by, connectedAs: $connected_as
}]->(:__Neo4jMigration {
  version: $version, description: $description, type: 'CYPHER', source: $source, checksum: $checksum,
  repeatable: false
})
