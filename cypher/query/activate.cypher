// Entities, and the vectors of the sentences that mention them, in one round trip. Chunks are read of $documents only, if
// not null.
//
// The entities are $names and those that $sentences mention. Of $names, and of those that a sentence mentions that
// passes something on, the $nearest chunks are read whose windows with the entity are nearest to the vector. Entities in
// more than $hub chunks are left out, and so are $known ones.
// $corpus, $documents, $vector, $names, $known: entities, $sentences: [{chunk, number, passes}], $nearest, $hub
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
  RETURN sum(reduce(sum = 0.0, count IN m.windows | CASE count WHEN 0 THEN sum ELSE sum + 1 + log(count) END)) AS degree
}
WITH e, degree, told ORDER BY e.key
WITH collect([e, degree, told]) AS found
CALL (found) {
  UNWIND range(0, size(found) - 1) AS at
  WITH at, found[at][0] AS e, found[at][2] AS told
  WHERE $nearest > 0 AND (told = [] OR any(one IN told WHERE $sentences[one].passes))
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)<-[:PART_OF]-(w:Window)
  WHERE ($documents IS NULL OR c.document IN $documents)
    AND size(m.sentences) > 0 AND m.windows[w.index] > 0
  WITH c, w, collect([at, m.sentences]) AS of
  WITH c, of, vector.similarity.cosine(w.embedding, $vector) AS near
  UNWIND of AS one
  WITH c, one[0] AS at, head(collect(one[1])) AS sentences, max(near) AS near
  ORDER BY at, round(near, 5) DESC, c.id
  WITH at, collect([c, sentences])[..$nearest] AS mentions
  RETURN collect([at, mentions]) AS reads
}
CALL (reads) {
  UNWIND reads AS one
  UNWIND one[1] AS mention
  WITH DISTINCT mention[0] AS c
  RETURN collect([c.id, c.sentence_vectors]) AS vectors
}
RETURN [at IN range(0, size(found) - 1) |
        [found[at][0].key, found[at][0].chunks, found[at][1], found[at][2],
         coalesce([one IN reads WHERE one[0] = at | [mention IN one[1] | [mention[0].id, mention[1]]]][0], [])]]
         AS entities, vectors
