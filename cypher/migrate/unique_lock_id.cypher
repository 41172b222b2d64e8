// Lock nodes have an id of their own. Made as neo4j-migrations makes it.
CREATE CONSTRAINT __Neo4jMigrationsLock__has_unique_id IF NOT EXISTS
FOR (lock:__Neo4jMigrationsLock) REQUIRE lock.id IS UNIQUE
