// List the migrations that were applied, oldest first.
// → version, description, source, checksum, at, by, connected_as
MATCH (baseline:__Neo4jMigration {version: 'BASELINE'})
WHERE baseline.migrationTarget IS NULL
MATCH path = (baseline)-[:MIGRATED_TO*]->(last:__Neo4jMigration)
WHERE NOT (last)-[:MIGRATED_TO]->(:__Neo4jMigration)
UNWIND range(1, length(path)) AS step
WITH step, nodes(path)[step] AS migration, relationships(path)[step - 1] AS run
RETURN migration.version AS version, migration.description AS description, migration.source AS source,
       migration.checksum AS checksum, run.at AS at, run.by AS by, run.connectedAs AS connected_as
ORDER BY step
