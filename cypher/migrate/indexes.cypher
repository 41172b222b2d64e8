// List the indexes of this project, including those of constraints. `dimensions` is null for indexes without vectors.
// → name, state, dimensions
SHOW INDEXES YIELD name, state, options
WHERE name STARTS WITH 'e2g_'
RETURN name, state, options.indexConfig['vector.dimensions'] AS dimensions
