// The shortest path between two entities, and the shortest one through names, or null.
// ← a, b
// → shortest, named
MATCH shortest = shortestPath((a)-[:CO_OCCURS*..6]-(b))
OPTIONAL MATCH named = shortestPath((a)-[:CO_OCCURS*..6]-(b))
WHERE all(n IN nodes(named) WHERE n IN [a, b] OR coalesce(n.type <> 'noun', n.name <> toLower(n.name)))
