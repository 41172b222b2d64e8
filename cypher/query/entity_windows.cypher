// The windows that mention entities, and those nearest to a vector, with the mentions, in one round trip.
//
// A window counts the sum of weight * ln(1 + sentences that mention the entity) over entities. The $limit windows that
// count most are found, and the $limit windows nearest to the vector.
// $corpus, $vector, $keys: entities, $weights: one per entity, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → chunk, document, index, tokens, shares, persistence, windows: [[window number, cosine, degree, [[index in $keys,
//   sentences that mention the entity]]]]. A row for each chunk with such a window, with the share of its text that each
//   of its windows has. degree: the sum of 1 + ln(sentences that mention the entity) over all entities, null for none. A
//   window that is not among the nearest has no cosine.
CALL () {
  UNWIND range(0, size($keys) - 1) AS at
  MATCH (:Entity {corpus: $corpus, key: $keys[at]})-[m:FROM_CHUNK]->(c:Chunk)
  // include: of_documents
  UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0] AS i
  RETURN c, i, [at, m.windows[i]] AS mention, null AS near
  UNION ALL
  // include: nearest_windows, $limit for $many
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
