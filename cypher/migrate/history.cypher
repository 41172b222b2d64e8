// List the migrations that were applied, oldest first.
// → version, source, checksum, at
MATCH (previous:__Neo4jMigration)-[run:MIGRATED_TO]->(migration:__Neo4jMigration)
WHERE migration.migrationTarget IS NULL
RETURN migration.version AS version, migration.source AS source, migration.checksum AS checksum, run.at AS at
ORDER BY at
