// One lock of a name at a time: this constraint is what makes it a lock. Made as neo4j-migrations makes it.
CREATE CONSTRAINT __Neo4jMigrationsLock__has_unique_name IF NOT EXISTS
FOR (lock:__Neo4jMigrationsLock) REQUIRE lock.name IS UNIQUE
