// Our indexes, those of constraints among them. `dimensions` is that of the vector index, null for others.
// → name, state, dimensions
SHOW INDEXES YIELD name, state, options
WHERE name STARTS WITH 'e2g_'
RETURN name, state, options.indexConfig['vector.dimensions'] AS dimensions
