// Like `query/entity_windows`, for filters and for 5.26: with the windows of $documents, null for all. The index, which
// knows neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if it
// finds too few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $keys: entities, $weights: one per entity, $limit
// → chunk, document, index, tokens, shares, persistence, windows: [[window number, cosine, degree, [[index in $keys,
//   sentences that mention the entity]]]]. A row for each chunk with such a window, with the share of its text that each
//   of its windows has. degree: the sum of 1 + ln(sentences that mention the entity) over all entities, null for none. A
//   window that is not among the nearest has no cosine.
CALL () {
  UNWIND range(0, size($keys) - 1) AS at
  MATCH (:Entity {corpus: $corpus, key: $keys[at]})-[m:FROM_CHUNK]->(c:Chunk)
  WHERE $documents IS NULL OR c.document IN $documents
  UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0] AS i
  RETURN c, i, [at, m.windows[i]] AS mention, null AS near
  UNION ALL
  CALL () {
    WITH $overfetch * $limit AS many
    WHERE many > 0
    CALL db.index.vector.queryNodes('e2g_window_embedding', many, $vector) YIELD node AS w, score
    WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents)
    RETURN collect({window: w, score: score}) AS indexed
  }
  CALL (indexed) {
    WITH indexed WHERE size(indexed) >= $limit
    UNWIND indexed AS one
    RETURN one.window AS w, one.score AS score
    UNION ALL
    WITH indexed WHERE size(indexed) < $limit
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS score
  }
  WITH w, score ORDER BY round(score, 5) DESC, w.id LIMIT $limit
  MATCH (w)-[:PART_OF]->(c:Chunk)
  RETURN c, w.index AS i, null AS mention, score AS near
}
WITH c, i, collect(mention) AS mentions, max(near) AS near
WITH c, i, mentions, near, reduce(sum = 0.0, one IN mentions | sum + $weights[one[0]] * log(1 + one[1])) AS counted
ORDER BY round(counted, 9) DESC, c.id, i
WITH collect([c, i, mentions, near]) AS found
UNWIND found[..$limit] + [one IN found[$limit..] WHERE one[3] IS NOT NULL] AS one
WITH one[0] AS c, one[1] AS i, one[2] AS mentions, one[3] AS near
WITH c, collect([i, 2 * near - 1, c.window_weights[i], mentions]) AS windows
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, windows
