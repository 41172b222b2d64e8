// Entities, and the vectors of the sentences that mention them, in one round trip.
//
// The entities are $names and those that $sentences mention. Of $names, and of those that a sentence mentions that
// passes something on, the $nearest chunks are read whose windows with the entity are nearest to the vector. Entities in
// more than $hub chunks are left out, and so are $known ones.
// $corpus, $vector, $names, $known: entities, $sentences: [{chunk, number, passes}], $nearest, $hub
// → entities: [[key, chunks, degree, [index of a sentence in $sentences], [[chunk, [number of a sentence]]]]],
//   vectors: [[chunk, packed vectors of its sentences]]. degree: the sum of 1 + ln(sentences that mention the entity)
//   over windows.
CALL () {
  UNWIND $names AS name
  MATCH (e:Entity {corpus: $corpus, key: name})
  RETURN e, null AS told
  UNION ALL
  UNWIND range(0, size($sentences) - 1) AS at
  MATCH (:Chunk {corpus: $corpus, id: $sentences[at].chunk})<-[m:FROM_CHUNK]-(e:Entity)
  WHERE $sentences[at].number IN m.sentences
  RETURN e, at AS told
}
WITH e, collect(told) AS told
WHERE 0 < e.chunks <= $hub AND NOT e.key IN $known
CALL (e) {
  MATCH (e)-[m:FROM_CHUNK]->(:Chunk)
  UNWIND m.windows AS count
  WITH count WHERE count > 0
  RETURN sum(1 + log(count)) AS degree
}
CALL (e, told) {
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)<-[:PART_OF]-(w:Window)
  WHERE (told = [] OR any(at IN told WHERE $sentences[at].passes))
    AND size(m.sentences) > 0 AND m.windows[w.index] > 0
  WITH c, m, max(vector.similarity.cosine(w.embedding, $vector)) AS near
  ORDER BY round(near, 5) DESC, c.id LIMIT $nearest
  RETURN collect([c, m.sentences]) AS mentions
}
WITH e, told, degree, mentions ORDER BY e.key
WITH collect([e, degree, told, mentions]) AS found
CALL (found) {
  UNWIND found AS one
  UNWIND one[3] AS mention
  WITH DISTINCT mention[0] AS c
  RETURN collect([c.id, c.sentence_vectors]) AS vectors
}
RETURN [one IN found | [one[0].key, one[0].chunks, one[1], one[2], [mention IN one[3] | [mention[0].id, mention[1]]]]]
         AS entities, vectors
