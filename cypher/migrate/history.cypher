// List the migrations that were applied, oldest first.
// → version, description, source, checksum, at, by, connected_as
MATCH (previous:__Neo4jMigration)-[run:MIGRATED_TO]->(migration:__Neo4jMigration)
WHERE migration.migrationTarget IS NULL
RETURN migration.version AS version, migration.description AS description, migration.source AS source,
       migration.checksum AS checksum, run.at AS at, run.by AS by, run.connectedAs AS connected_as
ORDER BY at
