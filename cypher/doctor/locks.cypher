// Who is at work: locks of the migrations, and runs whose lease has not expired.
// → migrations, runs
RETURN COUNT { MATCH (:__Neo4jMigrationsLock) } AS migrations,
       COUNT { MATCH (r:E2GRun) WHERE r.expires > timestamp() } AS runs
