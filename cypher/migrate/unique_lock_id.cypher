// Create the unique constraint on the id of a lock node, as neo4j-migrations does.
CREATE CONSTRAINT __Neo4jMigrationsLock__has_unique_id IF NOT EXISTS
FOR (lock:__Neo4jMigrationsLock) REQUIRE lock.id IS UNIQUE
