// Create the unique constraint on the name of a lock node, which makes it a lock, as neo4j-migrations does.
CREATE CONSTRAINT __Neo4jMigrationsLock__has_unique_name IF NOT EXISTS
FOR (lock:__Neo4jMigrationsLock) REQUIRE lock.name IS UNIQUE
