// Like `query/pagerank_windows`, for filters and for 5.26: with the windows of $documents, null for all. The index,
// which knows neither documents nor corpora, is asked for $overfetch times as many as are needed. If that is 0, or if
// it finds too few, windows are compared one by one.
// $documents, $overfetch
// $corpus, $vector, $keys: entities, $scores: per entity, the score of its relation with each entity before it in
// $keys, 0 if there is none, $limit
// → chunk, document, index, tokens, shares, persistence, windows: [[window number, score, cosine]]. A row for each chunk
//   with such a window, with the share of its text that each of its windows has. A window found only by vector scores 0;
//   one that is not among the nearest has no cosine.
CALL () {
  UNWIND range(0, size($keys) - 1) AS at
  MATCH (e:Entity {corpus: $corpus, key: $keys[at]})-[m:FROM_CHUNK]->(c:Chunk)
  WHERE $documents IS NULL OR c.document IN $documents
  WITH c, collect({at: at, counts: m.windows}) AS mentions
  WHERE size(mentions) > 1
  UNWIND range(0, size(c.window_shares) - 1) AS i
  WITH c, i, [m IN mentions WHERE m.counts[i] > 0 | m.at] AS found
  WHERE size(found) > 1
  WITH c, i, reduce(total = 0.0, a IN found |
               total + reduce(sum = 0.0, b IN found | sum + coalesce($scores[a][b], 0.0))) AS score
  WHERE score > 0
  WITH c, i, score ORDER BY round(score, 9) DESC, c.id, i LIMIT $limit
  RETURN c, i, score, null AS near
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
    RETURN one.window AS w, one.score AS near
    UNION ALL
    WITH indexed WHERE size(indexed) < $limit
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND ($documents IS NULL OR d.id IN $documents)
    MATCH (w:Window {corpus: $corpus, document: d.id})
    RETURN w, vector.similarity.cosine(w.embedding, $vector) AS near
  }
  WITH w, near ORDER BY round(near, 5) DESC, w.id LIMIT $limit
  MATCH (w)-[:PART_OF]->(c:Chunk)
  RETURN c, w.index AS i, 0.0 AS score, 2 * near - 1 AS near
}
WITH c, i, max(score) AS score, max(near) AS near
WITH c, collect([i, score, near]) AS windows
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, windows
