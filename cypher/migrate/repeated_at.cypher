// Create the index on the time of repeatable migrations, as neo4j-migrations does. This project has none of them.
CREATE INDEX repeated_at__Neo4jMigration IF NOT EXISTS
FOR ()-[repeated:REPEATED]-() ON (repeated.at)
