// The entities of the statements that are nearest to a question, and the windows whose chunks state something about them.
//
// Entities are the $entry with the nearest statements. Selected are all relations between two of them, and of those to
// other entities $around for each of them: first those to entities that are related to several of them, then those of
// entities with many statements. Found are the $limit nearest windows, and the $limit best of those that mention an
// entity and whose chunk states a selected relation or a description of it. `place` is that of the first such entity,
// `relations` the number of its selected relations in the chunk both of whose ends the window mentions. The index is
// approximate, so it is asked for $candidates statements.
// $corpus, $vector, $entry, $candidates, $around, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → entities: [{key, score}], candidates: [{chunk, document, index, tokens, persistence, shares, windows: [{number, score,
//   place, relations}]}]. A score is (1 + cosine) / 2; `place` is null if the window is only one of the nearest.
CALL () {
  // include: nearest_statements, $candidates for $many
  MATCH (s)-[:SUBJECT|OBJECT]->(e:Entity)
  WITH e, max(score) AS score ORDER BY round(score, 5) DESC, e.key LIMIT $entry
  RETURN collect(e) AS entities, collect(score) AS scores
}
CALL () {
  // include: nearest_windows, $limit for $many
  RETURN collect(w) AS nearest
}
CALL (entities) {
  UNWIND entities AS e
  // include: statements_of
  WITH DISTINCT entities, s
  MATCH (a:Entity)<-[:SUBJECT]-(s)-[:OBJECT]->(b:Entity)
  WITH s, a, b, a IN entities AS from, b IN entities AS to
  WITH s, a, b, from AND to AS inside, CASE WHEN from THEN b ELSE a END AS outer, CASE WHEN from THEN a ELSE b END AS known
  WITH outer, collect({statement: s, a: a, b: b, inside: inside}) AS stated, count(DISTINCT known) AS links
  UNWIND stated AS one
  WITH one.statement AS s, one.a AS a, one.b AS b, one.inside AS inside,
       CASE WHEN one.inside THEN 0 ELSE links END AS links
  // include: degrees
  ORDER BY inside DESC, links DESC, degree DESC, s.id
  WITH collect(s) AS relations, sum(CASE WHEN inside THEN 1 ELSE 0 END) AS within
  RETURN relations[..within + $around * size(entities)] AS relations
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)<-[:SUBJECT]-(s:Statement)
  WHERE NOT EXISTS { (s)-[:OBJECT]->() }
  RETURN collect(s) AS descriptions
}
CALL (entities, relations, descriptions, nearest) {
  CALL (entities, relations, descriptions, nearest) {
    UNWIND relations + descriptions AS s
    MATCH (s)-[:STATED_IN]->(c:Chunk)
    // include: of_documents
    MATCH (s)-[:SUBJECT|OBJECT]->(e:Entity)-[m:FROM_CHUNK]->(c)
    WHERE e IN entities
    OPTIONAL MATCH (s)-[:SUBJECT|OBJECT]->(other:Entity)-[n:FROM_CHUNK]->(c)
    WHERE other <> e
    WITH c, m, n, [place IN range(0, size(entities) - 1) WHERE entities[place] = e][0] AS place
    UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0] AS i
    WITH c, i, place, sum(CASE WHEN n.windows[i] > 0 THEN 1 ELSE 0 END) AS number
    ORDER BY place
    WITH c, i, collect([place, number])[0] AS first
    MATCH (c)<-[:PART_OF]-(w:Window)
    WHERE w.index = i
    WITH w, c, first, vector.similarity.cosine(w.embedding, $vector) AS score
    ORDER BY first[0], first[1] DESC, round(score, 5) DESC, w.id LIMIT $limit
    RETURN w, c, first[0] AS place, first[1] AS number
    UNION ALL
    UNWIND nearest AS w
    MATCH (w)-[:PART_OF]->(c:Chunk)
    RETURN w, c, null AS place, 0 AS number
  }
  WITH w, c, min(place) AS place, max(number) AS number
  WITH c, collect({
    number: w.index, score: vector.similarity.cosine(w.embedding, $vector), place: place, relations: number
  }) AS windows
  // include: candidates
  RETURN candidates
}
RETURN [place IN range(0, size(entities) - 1) | {key: entities[place].key, score: scores[place]}] AS entities, candidates
