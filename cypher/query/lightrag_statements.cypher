// The entities and statements around a question, and the windows of both, in one round trip.
//
// Like `query/lightrag`, with statements as relations. The local ones are those about an entity of the question, by the
// sum of the degrees of both ends, then by strength; the degree of an entity is the number of entities that statements
// relate it to. The global ones are the nearest to $statement_vector. There are at most $relations of each; descriptions
// of entities are none. Found are the $nearest windows nearest to $vector, those of a relation's chunk that mention an
// end of it, and of those that mention an entity of the question or an end of a relation the $limit that mention most
// of these. Entities in more than $hub chunks only count as ends. The index is approximate, so it is asked for
// $candidates statements.
// $corpus, $vector, $statement_vector, $nearest, $names, $candidates, $relations, $hub, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → nearest: [window id], named: [key], local: [[key, key, chunk id]], global: [[key, key, chunk id]], candidates:
//   [{chunk, document, index, tokens, persistence, shares, windows: [{number, score, mentioned: [key]}]}]. A score is
//   (1 + cosine) / 2.
CALL () {
  // include: nearest_windows, $nearest for $many
  WITH w, score ORDER BY round(score, 5) DESC, w.id
  RETURN collect(w) AS nearest
}
// include: named_entities
CALL (named) {
  UNWIND named AS e
  MATCH (e)<-[:SUBJECT|OBJECT]-(s:Statement)
  WITH DISTINCT s
  MATCH (a:Entity)<-[:SUBJECT]-(s)-[:OBJECT]->(b:Entity), (s)-[:STATED_IN]->(c:Chunk)
  // include: of_documents
  WITH s, a, b, c,
       COUNT { MATCH (a)<-[:SUBJECT|OBJECT]-(:Statement)-[:SUBJECT|OBJECT]->(n:Entity) RETURN DISTINCT n } AS a_degree,
       COUNT { MATCH (b)<-[:SUBJECT|OBJECT]-(:Statement)-[:SUBJECT|OBJECT]->(n:Entity) RETURN DISTINCT n } AS b_degree
  ORDER BY a_degree + b_degree DESC, s.strength DESC, s.id LIMIT $relations
  RETURN collect({statement: s, a: a, b: b, chunk: c}) AS local
}
CALL () {
  // include: nearest_statements, $candidates for $many, $statement_vector for $vector
  MATCH (a:Entity)<-[:SUBJECT]-(s)-[:OBJECT]->(b:Entity), (s)-[:STATED_IN]->(c:Chunk)
  WITH s, score, a, b, c ORDER BY round(score, 5) DESC, s.id LIMIT $relations
  RETURN collect({statement: s, a: a, b: b, chunk: c}) AS global
}
CALL (nearest, named, local, global) {
  CALL (nearest, named, local, global) {
    UNWIND local + global AS relation
    WITH relation.chunk AS c, relation.a AS a, relation.b AS b
    MATCH (e:Entity)-[m:FROM_CHUNK]->(c)
    WHERE e = a OR e = b
    UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0] AS i
    RETURN c, i, collect(e.key) AS mentioned
    UNION ALL
    UNWIND named + [one IN local + global | one.a] + [one IN local + global | one.b] AS e
    WITH DISTINCT e
    WHERE e.chunks <= $hub
    MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
    // include: of_documents
    UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0] AS i
    WITH c, i, collect(e.key) AS mentioned
    ORDER BY size(mentioned) DESC, c.id, i LIMIT $limit
    RETURN c, i, mentioned
    UNION ALL
    UNWIND nearest AS w
    MATCH (w)-[:PART_OF]->(c:Chunk)
    RETURN c, w.index AS i, [] AS mentioned
  }
  WITH c, i, reduce(keys = [], one IN collect(mentioned) | keys + one) AS mentioned
  MATCH (c)<-[:PART_OF]-(w:Window)
  WHERE w.index = i
  WITH c, collect({
    number: i, score: vector.similarity.cosine(w.embedding, $vector), mentioned: mentioned
  }) AS windows
  // include: candidates
  RETURN candidates
}
RETURN [w IN nearest | w.id] AS nearest, [e IN named | e.key] AS named,
       [one IN local | [one.a.key, one.b.key, one.chunk.id]] AS local,
       [one IN global | [one.a.key, one.b.key, one.chunk.id]] AS global, candidates
