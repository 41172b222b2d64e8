// Which of some relationship types the database does not know, and the types around the nodes of the user's graph that
// entities of a corpus refer to, to suggest one of them.
// $corpus, $types
// → missing: [name], linked: [name]
RETURN COLLECT {
         UNWIND $types AS type
         WITH type WHERE NOT type IN COLLECT { CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType }
         RETURN type
       } AS missing,
       COLLECT {
         MATCH (:Entity {corpus: $corpus})-[:REFERS_TO]->(n)
         WITH DISTINCT n LIMIT 1000
         MATCH (n)-[r]-()
         WHERE NOT type(r) IN ['REFERS_TO', 'STANDS_FOR']
         RETURN DISTINCT type(r) AS type ORDER BY type
       } AS linked
