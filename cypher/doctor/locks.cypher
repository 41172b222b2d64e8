// Count the locks of migrations, and the runs whose lease has not expired.
// → migrations, runs
RETURN COUNT { MATCH (:__Neo4jMigrationsLock) } AS migrations,
       COUNT { MATCH (r:E2GRun) WHERE r.expires > timestamp() } AS runs
