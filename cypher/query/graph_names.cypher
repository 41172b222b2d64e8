// The names of labels, relationship types and properties that the database knows, at most $limit of each, and the names
// and patterns of the typed graph of a corpus, which are null if there is none.
// $corpus, $limit
// → labels: [name], types: [name], properties: [name], typed_labels: [name], typed_types: [name], patterns: [pattern]
OPTIONAL MATCH (corpus:Corpus {corpus: $corpus})
RETURN COLLECT { CALL db.labels() YIELD label RETURN label ORDER BY label LIMIT $limit } AS labels,
       COLLECT { CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType
                 ORDER BY relationshipType LIMIT $limit } AS types,
       COLLECT { CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey
                 ORDER BY propertyKey LIMIT $limit } AS properties,
       corpus.typed_labels AS typed_labels, corpus.typed_types AS typed_types, corpus.typed_patterns AS patterns
