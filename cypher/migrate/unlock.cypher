// Give our lock back.
// $id
MATCH (lock:__Neo4jMigrationsLock {id: $id})
DELETE lock
