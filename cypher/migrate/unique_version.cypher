// A version is recorded once for each target. Made as neo4j-migrations makes it.
CREATE CONSTRAINT unique_version___Neo4jMigration IF NOT EXISTS
FOR (migration:__Neo4jMigration) REQUIRE (migration.version, migration.migrationTarget) IS UNIQUE
