// The documents that mention an entity, or where its name stands for another one.
// $corpus, $key
// → document
CALL () {
  MATCH (:Entity {corpus: $corpus, key: $key})-[:FROM_CHUNK]->(c:Chunk)
  RETURN c.document AS document
  UNION
  MATCH (:Alias {corpus: $corpus, key: $key})-[r:ALIAS_OF]->(:Entity)
  RETURN r.document AS document
}
RETURN DISTINCT document
ORDER BY document
