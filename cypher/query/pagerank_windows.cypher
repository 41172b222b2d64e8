// The windows that mention both entities of a relation, and those nearest to a vector, in one round trip.
//
// A window scores the sum of the relations whose two entities it mentions. The $limit windows with the highest scores
// are found, and the $limit windows nearest to the vector.
// $corpus, $vector, $keys: entities, $scores: per entity, the score of its relation with each entity before it in
// $keys, 0 if there is none, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → chunk, document, index, tokens, shares, persistence, windows: [[window number, score, cosine]]. A row for each chunk
//   with such a window, with the share of its text that each of its windows has. A window found only by vector scores 0;
//   one that is not among the nearest has no cosine.
CALL () {
  UNWIND range(0, size($keys) - 1) AS at
  MATCH (e:Entity {corpus: $corpus, key: $keys[at]})-[m:FROM_CHUNK]->(c:Chunk)
  // include: of_documents
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
  // include: nearest_windows, $limit for $many
  MATCH (w)-[:PART_OF]->(c:Chunk)
  RETURN c, w.index AS i, 0.0 AS score, 2 * score - 1 AS near
}
WITH c, i, max(score) AS score, max(near) AS near
WITH c, collect([i, score, near]) AS windows
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, windows
