// The chunks that mention several terms of a question, and how far apart these are, in one round trip.
//
// A term of $name_words means all entities of the types $people with this word in their key or in that of an alias (or
// these words: "Jean-Luc" is one term); the type of an entity without one is `name`. A term of $wholes means the entity with this key, and those of which it is an
// alias. Two terms of one entity, or of two that co-occur, are one hop apart. Otherwise the distance is that of the
// nearest of the $members most mentioned entities of each. Only terms that share a chunk are pairs. Paths longer than six
// edges are ignored.
// $corpus, $name_words: [word], $wholes: [key], $people: [type], $members
// $documents: only these, null: all
// → entities: [key], pairs: [{a, b, hops}], shared: [{chunk, document, index, counts: [{entity: term, count}]}]
CALL () {
  CALL () {
    MATCH (e:Entity {corpus: $corpus})
    WHERE e.key IS NOT NULL AND coalesce(e.type, 'name') IN $people
    UNWIND $name_words AS word
    WITH word, e
    WHERE (' ' + e.key + ' ') CONTAINS (' ' + word + ' ')
    RETURN word AS term, e
    UNION
    MATCH (a:Alias {corpus: $corpus})
    WHERE a.key IS NOT NULL
    UNWIND $name_words AS word
    WITH word, a
    WHERE (' ' + a.key + ' ') CONTAINS (' ' + word + ' ')
    MATCH (a)-[:ALIAS_OF]->(e:Entity)
    WHERE coalesce(e.type, 'name') IN $people
    RETURN word AS term, e
    UNION
    UNWIND $wholes AS term
    MATCH (e:Entity {corpus: $corpus, key: term})
    RETURN term, e
    UNION
    UNWIND $wholes AS term
    MATCH (:Alias {corpus: $corpus, key: term})-[:ALIAS_OF]->(e:Entity)
    RETURN term, e
  }
  WITH term, e
  WHERE e.chunks > 0
  WITH term, e ORDER BY e.chunks DESC, e.key
  WITH term, collect(e) AS entities
  RETURN collect({term: term, entities: entities}) AS terms
}
CALL (terms) {
  UNWIND terms AS one
  UNWIND one.entities AS e
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
  // include: of_documents
  WITH c, one.term AS term, sum(m.count) AS count ORDER BY term
  WITH c, collect({entity: term, count: count}) AS counts
  WHERE size(counts) > 1
  RETURN collect({chunk: c.id, document: c.document, index: c.index, counts: counts}) AS shared
}
CALL (terms, shared) {
  UNWIND terms AS a
  UNWIND terms AS b
  WITH a, b, shared
  WHERE a.term < b.term AND any(one IN shared WHERE
    any(count IN one.counts WHERE count.entity = a.term) AND any(count IN one.counts WHERE count.entity = b.term))
  CALL (a, b) {
    WITH a, b,
         any(e IN a.entities WHERE e IN b.entities) OR EXISTS {
           UNWIND a.entities AS x
           MATCH (x)-[:CO_OCCURS]-(y:Entity)
           WHERE y IN b.entities
         } AS adjacent
    UNWIND CASE WHEN adjacent THEN [null] ELSE a.entities[..$members] END AS x
    UNWIND CASE WHEN adjacent THEN [null] ELSE b.entities[..$members] END AS y
    OPTIONAL MATCH p = shortestPath((x)-[:CO_OCCURS*..6]-(y))
    RETURN min(CASE WHEN adjacent THEN 1 ELSE length(p) END) AS hops
  }
  WITH a, b, hops
  WHERE hops IS NOT NULL
  RETURN collect({a: a.term, b: b.term, hops: hops}) AS pairs
}
RETURN [one IN terms | [e IN one.entities | e.key]] AS entities, pairs, shared
