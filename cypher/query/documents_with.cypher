// The documents that mention an entity, or in which its name is an alias of another entity.
// $corpus, $key
// → document
CALL () {
  MATCH (:Entity {corpus: $corpus, key: $key})-[:FROM_CHUNK]->(c:Chunk)
  RETURN c.document AS document
  UNION
  MATCH (:Alias {corpus: $corpus, key: $key})-[r:ALIAS_OF]->(:Entity)
  RETURN r.document AS document
}
WITH DISTINCT document
RETURN document ORDER BY document
