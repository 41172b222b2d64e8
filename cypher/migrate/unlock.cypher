// Release the lock of this run.
// $id
MATCH (lock:__Neo4jMigrationsLock {id: $id})
DELETE lock
