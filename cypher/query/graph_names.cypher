// The names of labels, relationship types and properties that the database knows, at most $limit of each.
// $limit
// → labels: [name], types: [name], properties: [name]
RETURN COLLECT { CALL db.labels() YIELD label RETURN label ORDER BY label LIMIT $limit } AS labels,
       COLLECT { CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType
                 ORDER BY relationshipType LIMIT $limit } AS types,
       COLLECT { CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey
                 ORDER BY propertyKey LIMIT $limit } AS properties
