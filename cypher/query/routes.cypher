// The windows that vectors and entities lead to, in one round trip.
//
// Found are the $entry windows nearest to the vector, and the windows that mention an active entity. Active are the
// entities of the question, the $seeds entities that most of the nearest windows mention, the rarer the better, and of
// their neighbours in sentences the $neighbours with the greatest weight, again the rarer the better, and if $by_name, of
// the first $compared, the nearer the name is to the vector; and likewise the neighbours of these if $hops is 2. An entity
// of the question counts 1, one of the nearest windows the fraction of them that mention it, a neighbour $decay times the
// most that an entity next to it counts. The coverage of a window is the fraction of all that the active entities count,
// each multiplied by its rarity, that those mentioned in it have. Of the windows with coverage, $limit are kept: the
// nearest, then those with the greatest. Entities in more than $hub chunks are not active.
// $corpus, $vector, $entry, $names, $seeds, $hops: 1 or 2, $neighbours: per hop, $compared, $by_name, $decay, $hub, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → chunk, document, index, tokens, shares, persistence, windows: [[window number, cosine, coverage, origin]]. A row for
//   each chunk with such a window, with the share of its text that each of its windows has. An origin is 0 for vectors,
//   1 for entities of the question, 2 for those of the nearest windows, 3 for neighbours; of several, the smallest.
MATCH (corpus:Corpus {corpus: $corpus})
CALL () {
  // include: nearest_windows, $entry for $many
  RETURN collect(w) AS entry
}
CALL () {
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IN $names AND 0 < e.chunks <= $hub
  RETURN collect([e, 1.0, 1]) AS named
}
CALL (corpus, entry, named) {
  UNWIND entry AS w
  MATCH (w)-[:PART_OF]->(:Chunk)<-[m:FROM_CHUNK]-(e:Entity)
  WHERE m.windows[w.index] > 0
  WITH e, count(*) AS mentioning
  WHERE e.chunks <= $hub AND NOT e IN [one IN named | one[0]]
  WITH e, mentioning, log(1 + 1.0 * corpus.chunks / e.chunks) AS rarity
  ORDER BY round(mentioning * rarity, 6) DESC, e.key LIMIT $seeds
  RETURN collect([e, 1.0 * mentioning / size(entry), 2]) AS seeds
}
WITH corpus, entry, named + seeds AS sources
CALL (corpus, sources) {
  UNWIND sources AS source
  WITH source[0] AS e, source[1] AS counted
  MATCH (e)-[r:CO_OCCURS]-(n:Entity)
  WITH n, sum(counted * r.weight) AS weight, max(counted) AS counted
  WHERE 0 < n.chunks <= $hub AND NOT n IN [source IN sources | source[0]]
  WITH n, counted, weight * log(1 + 1.0 * corpus.chunks / n.chunks) AS strength
  ORDER BY round(strength, 6) DESC, n.key LIMIT $compared
  WITH n, counted, strength *
         CASE WHEN $by_name THEN coalesce(vector.similarity.cosine(n.embedding, $vector), 0.5) ELSE 1 END AS strength
  ORDER BY round(strength, 6) DESC, n.key LIMIT $neighbours
  RETURN collect([n, $decay * counted, 3]) AS beside
}
CALL (corpus, sources, beside) {
  UNWIND CASE WHEN $hops > 1 THEN beside ELSE [] END AS source
  WITH source[0] AS e, source[1] AS counted
  MATCH (e)-[r:CO_OCCURS]-(n:Entity)
  WITH n, sum(counted * r.weight) AS weight, max(counted) AS counted
  WHERE 0 < n.chunks <= $hub AND NOT n IN [source IN sources + beside | source[0]]
  WITH n, counted, weight * log(1 + 1.0 * corpus.chunks / n.chunks) AS strength
  ORDER BY round(strength, 6) DESC, n.key LIMIT $compared
  WITH n, counted, strength *
         CASE WHEN $by_name THEN coalesce(vector.similarity.cosine(n.embedding, $vector), 0.5) ELSE 1 END AS strength
  ORDER BY round(strength, 6) DESC, n.key LIMIT $neighbours
  RETURN collect([n, $decay * counted, 3]) AS farther
}
WITH entry, [w IN entry | w.id] AS nearest,
     [one IN sources + beside + farther |
      {entity: one[0], counted: one[1] * log(1 + 1.0 * corpus.chunks / one[0].chunks), origin: one[2]}] AS active
WITH entry, nearest, active, reduce(total = 0.0, one IN active | total + one.counted) AS total
CALL (entry, nearest, active, total) {
  UNWIND active AS one
  WITH one.entity AS e, one.counted AS counted, one.origin AS origin
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
  // include: of_documents
  UNWIND [i IN range(0, size(m.windows) - 1) WHERE m.windows[i] > 0] AS i
  WITH c, i, sum(counted / total) AS coverage, min(origin) AS origin
  ORDER BY c.id + '-w' + i IN nearest DESC, round(coverage, 6) DESC, c.id, i LIMIT $limit
  RETURN c, i, coverage, origin
  UNION ALL
  UNWIND entry AS w
  MATCH (w)-[:PART_OF]->(c:Chunk)
  RETURN c, w.index AS i, 0.0 AS coverage, 0 AS origin
}
WITH c, i, max(coverage) AS coverage, min(origin) AS origin
MATCH (c)<-[:PART_OF]-(w:Window)
WHERE w.index = i
WITH c, collect([i, 2 * vector.similarity.cosine(w.embedding, $vector) - 1, coverage, origin]) AS windows
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, windows
