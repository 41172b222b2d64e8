// Like `query/graphrag_local`, for filters and for 5.26: with the statements and windows of $documents, null for all.
// The indexes, which know neither documents nor corpora, are asked for $overfetch times as many as are needed. If that
// is 0, or if they find too few, statements and windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $entry, $candidates, $around, $limit
// → entities: [{key, score}], candidates: [{chunk, document, index, tokens, persistence, shares, windows: [{number, score,
//   place, relations}]}]. A score is (1 + cosine) / 2; `place` is null if the window is only one of the nearest.
CALL () {
  WITH $overfetch * $candidates AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_statement_embedding', many, $vector) YIELD node AS s, score
  WHERE s.corpus = $corpus
        AND ($documents IS NULL OR EXISTS { (s)-[:STATED_IN]->(c:Chunk) WHERE c.document IN $documents })
  RETURN collect({statement: s, score: score}) AS indexed_statements
}
CALL (indexed_statements) {
  CALL (indexed_statements) {
    WITH indexed_statements WHERE size(indexed_statements) >= $candidates
    UNWIND indexed_statements AS one
    RETURN one.statement AS s, one.score AS score
    UNION ALL
    WITH indexed_statements WHERE size(indexed_statements) < $candidates
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (s:Statement)-[:STATED_IN]->(:Chunk {corpus: $corpus, document: d.id})
    RETURN s, vector.similarity.cosine(s.embedding, $vector) AS score
  }
  WITH s, score ORDER BY round(score, 5) DESC, s.id LIMIT $candidates
  MATCH (s)-[:SUBJECT|OBJECT]->(e:Entity)
  WITH e, max(score) AS score ORDER BY round(score, 5) DESC, e.key LIMIT $entry
  RETURN collect(e) AS entities, collect(score) AS scores
}
CALL () {
  WITH $overfetch * $limit AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({window: w, score: score}) AS indexed_windows
}
CALL (indexed_windows) {
  CALL (indexed_windows) {
    WITH indexed_windows WHERE size(indexed_windows) >= $limit
    UNWIND indexed_windows AS one
    RETURN one.window AS w, one.score AS score
    UNION ALL
    WITH indexed_windows WHERE size(indexed_windows) < $limit
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $limit
  RETURN collect(w) AS nearest
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)<-[:SUBJECT|OBJECT]-(s:Statement)-[:STATED_IN]->(c:Chunk)
  WHERE $documents IS NULL OR c.document IN $documents
  WITH DISTINCT entities, s
  MATCH (a:Entity)<-[:SUBJECT]-(s)-[:OBJECT]->(b:Entity)
  WITH s, a, b, a IN entities AS from, b IN entities AS to
  WITH s, a, b, from AND to AS inside, CASE WHEN from THEN b ELSE a END AS outer, CASE WHEN from THEN a ELSE b END AS known
  WITH outer, collect({statement: s, a: a, b: b, inside: inside}) AS stated, count(DISTINCT known) AS links
  UNWIND stated AS one
  WITH one.statement AS s, one.a AS a, one.b AS b, one.inside AS inside,
       CASE WHEN one.inside THEN 0 ELSE links END AS links
  WITH a, collect({statement: s, b: b, inside: inside, links: links}) AS of_a
  WITH of_a, COUNT {
    (a)<-[:SUBJECT|OBJECT]-(:Statement)-[:STATED_IN]->(c:Chunk) WHERE $documents IS NULL OR c.document IN $documents
  } AS degree
  UNWIND of_a AS one
  WITH one.b AS b, collect([one, degree]) AS of_b
  WITH of_b, COUNT {
    (b)<-[:SUBJECT|OBJECT]-(:Statement)-[:STATED_IN]->(c:Chunk) WHERE $documents IS NULL OR c.document IN $documents
  } AS degree
  UNWIND of_b AS one
  WITH one[0].statement AS s, one[0].inside AS inside, one[0].links AS links, one[1] + degree AS degree
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
    WHERE $documents IS NULL OR c.document IN $documents
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
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: d.id, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence, windows: windows
  }) AS candidates
}
RETURN [place IN range(0, size(entities) - 1) | {key: entities[place].key, score: scores[place]}] AS entities, candidates
