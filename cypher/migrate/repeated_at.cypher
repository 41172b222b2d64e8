// When repeatable migrations ran. We have none; made as neo4j-migrations makes it.
CREATE INDEX repeated_at__Neo4jMigration IF NOT EXISTS
FOR ()-[repeated:REPEATED]-() ON (repeated.at)
