// The chunks that mention both entities of a pair most often, with the packed extraction that has their sentences, and
// the keys of all names that resolve to the entities in the chunk's document. A pair may be twice the same entity.
// $corpus, $pairs: [{a, b}]: keys of entities, $document: only of this one, null for all, $limit: chunks per pair
// → a, b, chunk, document, title, start, end, notes, names_a: [key], names_b: [key]
UNWIND $pairs AS pair
CALL (pair) {
  MATCH (x:Entity {corpus: $corpus, key: pair.a})-[m:FROM_CHUNK]->(c:Chunk)
  WHERE $document IS NULL OR c.document = $document
  MATCH (c)<-[n:FROM_CHUNK]-(y:Entity {corpus: $corpus, key: pair.b})
  RETURN x, y, c, CASE WHEN m.count < n.count THEN m.count ELSE n.count END AS times
  ORDER BY times DESC, c.document, c.index LIMIT toInteger($limit)
}
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN pair.a AS a, pair.b AS b, c.id AS chunk, d.id AS document, d.title AS title, c.start AS start, c.end AS end,
       c.notes AS notes,
       [x.key] + COLLECT { MATCH (n:Alias)-[r:ALIAS_OF]->(x) WHERE r.document = d.id RETURN n.key } AS names_a,
       [y.key] + COLLECT { MATCH (n:Alias)-[r:ALIAS_OF]->(y) WHERE r.document = d.id RETURN n.key } AS names_b
