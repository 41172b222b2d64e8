// The seeds of a question and the part of the entity graph around them, in one round trip.
//
// Seeds are the entities of the question, which count 1; for each of its names that is none, the entity whose name is
// nearest, if its score is at least $threshold, which counts its cosine; and the $seeds entities that most of the $entry
// windows nearest to the vector mention, the rarer the better, which count the fraction of these windows that mention
// them. The weight of a seed is what it counts, divided by the number of chunks that mention it. The index of names is
// approximate, so it is asked for $candidates, of which $similar are needed. Of the entities next to the seeds,
// $around are kept: those that get most if each seed gives its weight to its neighbours in equal parts. The graph has
// all edges between seeds and these. Entities in more than $hub chunks are left out.
// $corpus, $vector, $entry, $names, $unknown: [{key, vector}], $similar, $candidates, $threshold, $seeds, $around, $hub
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → seeds: [[key, weight]], edges: [[key, [key]]], similar: [{entity, names, cosine}]. Each edge is listed once.
MATCH (corpus:Corpus {corpus: $corpus})
CALL () {
  // include: nearest_windows, $entry for $many
  RETURN collect(w) AS entry
}
// include: named_entities
CALL (named) {
  UNWIND $unknown AS keyword
  CALL (keyword) {
    // include: near_entities
    WHERE score >= $threshold AND 0 < e.chunks <= $hub
    RETURN e, score ORDER BY round(score, 5) DESC, e.key LIMIT $similar
  }
  WITH e, collect(keyword.key) AS meant, 2 * max(score) - 1 AS cosine
  WHERE NOT e IN named
  RETURN collect({entity: e, names: meant, cosine: cosine}) AS similar
}
CALL (corpus, entry, named, similar) {
  UNWIND entry AS w
  MATCH (w)-[:PART_OF]->(:Chunk)<-[m:FROM_CHUNK]-(e:Entity)
  WHERE m.windows[w.index] > 0
  WITH e, count(*) AS mentioning
  WHERE e.chunks <= $hub AND NOT e IN named AND NOT e IN [one IN similar | one.entity]
  WITH e, mentioning, log(1 + 1.0 * corpus.chunks / e.chunks) AS rarity
  ORDER BY round(mentioning * rarity, 6) DESC, e.key LIMIT $seeds
  RETURN collect([e, 1.0 * mentioning / size(entry) / e.chunks]) AS mentioned
}
WITH [e IN named | [e, 1.0 / e.chunks]] + [one IN similar | [one.entity, one.cosine / one.entity.chunks]]
     + mentioned AS seeds, similar
CALL (seeds) {
  UNWIND seeds AS seed
  WITH seed[0] AS e, seed[1] AS weight
  MATCH (e)-[:CO_OCCURS]-(n:Entity)
  WHERE 0 < n.chunks <= $hub
  WITH e, weight, collect(n) AS beside
  UNWIND beside AS n
  WITH n, sum(weight / size(beside)) AS given
  WHERE NOT n IN [seed IN seeds | seed[0]]
  WITH n, given ORDER BY round(given, 9) DESC, n.key LIMIT $around
  RETURN collect(n) AS around
}
WITH seeds, similar, [seed IN seeds | seed[0]] + around AS kept
CALL (kept) {
  UNWIND kept AS e
  MATCH (e)-[:CO_OCCURS]->(n:Entity)
  WHERE n IN kept
  WITH e, collect(n.key) AS others
  RETURN collect([e.key, others]) AS edges
}
RETURN [seed IN seeds | [seed[0].key, seed[1]]] AS seeds, edges,
       [one IN similar | {entity: one.entity.key, names: one.names, cosine: one.cosine}] AS similar
