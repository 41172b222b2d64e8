// Like `query/lightrag_statements`, for filters and for 5.26: with the windows and statements of $documents, null for all.
// The indexes, which know neither documents nor corpora, are asked for $overfetch times as many as are needed. If that
// is 0, or if they find too few, windows and statements are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $statement_vector, $nearest, $names, $candidates, $relations, $hub, $limit
// → nearest: [window id], named: [key], local: [[key, key, chunk id]], global: [[key, key, chunk id]], candidates:
//   [{chunk, document, index, tokens, persistence, shares, windows: [{number, score, mentioned: [key]}]}]. A score is
//   (1 + cosine) / 2.
CALL () {
  WITH $overfetch * $nearest AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
  WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
  RETURN collect({window: w, score: score}) AS indexed
}
CALL (indexed) {
  CALL (indexed) {
    WITH indexed WHERE size(indexed) >= $nearest
    UNWIND indexed AS one
    RETURN one.window AS w, one.score AS score
    UNION ALL
    WITH indexed WHERE size(indexed) < $nearest
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $nearest
  RETURN collect(w) AS nearest
}
CALL () {
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IN $names AND 0 < e.chunks <= $hub
  RETURN collect(e) AS named
}
CALL (named) {
  UNWIND named AS e
  MATCH (e)<-[:SUBJECT|OBJECT]-(s:Statement)
  WITH DISTINCT s
  MATCH (a:Entity)<-[:SUBJECT]-(s)-[:OBJECT]->(b:Entity), (s)-[:STATED_IN]->(c:Chunk)
  WHERE $documents IS NULL OR c.document IN $documents
  WITH s, a, b, c,
       COUNT { MATCH (a)<-[:SUBJECT|OBJECT]-(:Statement)-[:SUBJECT|OBJECT]->(n:Entity) RETURN DISTINCT n } AS a_degree,
       COUNT { MATCH (b)<-[:SUBJECT|OBJECT]-(:Statement)-[:SUBJECT|OBJECT]->(n:Entity) RETURN DISTINCT n } AS b_degree
  ORDER BY a_degree + b_degree DESC, s.strength DESC, s.id LIMIT $relations
  RETURN collect({statement: s, a: a, b: b, chunk: c}) AS local
}
CALL () {
  WITH $overfetch * $candidates AS many
  WHERE many > 0
  CALL db.index.vector.queryNodes('e2g_statement_embedding', many, $statement_vector) YIELD node AS s, score
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
    RETURN s, vector.similarity.cosine(s.embedding, $statement_vector) AS score
  }
  WITH s, score ORDER BY round(score, 5) DESC, s.id LIMIT $candidates
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
    WHERE $documents IS NULL OR c.document IN $documents
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
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: d.id, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence, windows: windows
  }) AS candidates
}
RETURN [w IN nearest | w.id] AS nearest, [e IN named | e.key] AS named,
       [one IN local | [one.a.key, one.b.key, one.chunk.id]] AS local,
       [one IN global | [one.a.key, one.b.key, one.chunk.id]] AS global, candidates
