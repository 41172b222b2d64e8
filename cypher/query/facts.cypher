// Relationships of the user's graph around the nodes that a question's entities refer to, of some types: first those
// that connect two of these nodes, directly or through one node in between, then those that begin or end at one of
// them. The name of a node is the property by which it was linked, or one by which others were, or the first of name,
// title, label and id. Long names are truncated.
// $corpus, $names, $types, $limit
// → subject, subject_id, relationship, object, object_id, properties, entities: [key]
MATCH (e:Entity {corpus: $corpus})-[link:REFERS_TO]->(n)
WHERE e.key IN $names
WITH n, collect(DISTINCT e.key) AS keys, collect(link.property)[0] AS property
WITH collect(n) AS seeds, collect({node: n, keys: keys, property: property}) AS known, collect(DISTINCT property) AS properties
CALL (seeds) {
  CALL (seeds) {
    UNWIND seeds AS a
    MATCH (a)-[r]-(b)
    WHERE b IN seeds AND type(r) IN $types
    RETURN r, 0 AS rank LIMIT $limit
    UNION
    UNWIND seeds AS a
    MATCH (a)-[r1]-(m)-[r2]-(b)
    WHERE type(r1) IN $types AND type(r2) IN $types
      AND NOT m IN seeds AND b IN seeds AND elementId(a) < elementId(b)
    WITH r1, r2 LIMIT $limit
    UNWIND [r1, r2] AS r
    RETURN r, 1 AS rank
    UNION
    UNWIND seeds AS a
    CALL (a) {
      MATCH (a)-[r]-()
      WHERE type(r) IN $types
      RETURN r LIMIT $limit
    }
    RETURN r, 2 AS rank
  }
  WITH r, min(rank) AS rank ORDER BY rank, elementId(r) LIMIT $limit
  RETURN r, rank
}
WITH r, rank, startNode(r) AS s, endNode(r) AS o, known, properties
RETURN left(coalesce([x IN known WHERE x.node = s | toStringOrNull(s[x.property])][0],
                     [one IN properties WHERE toStringOrNull(s[one]) IS NOT NULL | toStringOrNull(s[one])][0],
                     toStringOrNull(s.name), toStringOrNull(s.title), toStringOrNull(s.label), toStringOrNull(s.id),
                     elementId(s)), 200) AS subject,
       elementId(s) AS subject_id, type(r) AS relationship,
       left(coalesce([x IN known WHERE x.node = o | toStringOrNull(o[x.property])][0],
                     [one IN properties WHERE toStringOrNull(o[one]) IS NOT NULL | toStringOrNull(o[one])][0],
                     toStringOrNull(o.name), toStringOrNull(o.title), toStringOrNull(o.label), toStringOrNull(o.id),
                     elementId(o)), 200) AS object,
       elementId(o) AS object_id, properties(r) AS properties,
       reduce(found = [], one IN [x IN known WHERE x.node IN [s, o]] | found + one.keys) AS entities
ORDER BY rank, subject, relationship, object, subject_id, object_id
