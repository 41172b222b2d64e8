// The documents that mention an entity, or in which its name is an alias of another entity, and whether their chunks
// keep the data that their mentions are computed from.
// $corpus, $key
// → document, kept
CALL () {
  MATCH (:Entity {corpus: $corpus, key: $key})-[:FROM_CHUNK]->(c:Chunk)
  RETURN c.document AS document
  UNION
  MATCH (:Alias {corpus: $corpus, key: $key})-[r:ALIAS_OF]->(:Entity)
  RETURN r.document AS document
}
WITH DISTINCT document
RETURN document, NOT EXISTS { MATCH (c:Chunk {corpus: $corpus, document: document}) WHERE c.notes IS NULL } AS kept
ORDER BY document
