// List all indexes, each with the constraint that owns it, if any.
// → name, type, labels, properties, constraint, dimensions
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, owningConstraint, options
WHERE type <> 'LOOKUP'
RETURN name, type, labelsOrTypes AS labels, properties, owningConstraint AS constraint,
       options.indexConfig['vector.dimensions'] AS dimensions
ORDER BY name
