// Create the constraint that a version is recorded once for each target, as neo4j-migrations does.
CREATE CONSTRAINT unique_version___Neo4jMigration IF NOT EXISTS
FOR (migration:__Neo4jMigration) REQUIRE (migration.version, migration.migrationTarget) IS UNIQUE
