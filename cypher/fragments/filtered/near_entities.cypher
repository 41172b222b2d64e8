// The entities whose names are near a keyword, and others. The index does not know corpora: if all that it finds is near
// enough, and too little of it of this corpus, all entities of the corpus are compared.
// $corpus, $candidates, $similar, $threshold
// ← keyword: {vector}
// → e, score: (1 + cosine) / 2
WITH keyword
CALL db.index.vector.queryNodes('e2g_entity_embedding', $candidates, keyword.vector) YIELD node, score
WITH keyword, collect({entity: node, score: score}) AS found
WITH keyword, found, [one IN found WHERE one.entity.corpus = $corpus] AS here
CALL (keyword, found, here) {
  WITH here, found WHERE size(here) >= $similar OR size(found) < $candidates OR found[-1].score < $threshold
  UNWIND here AS one
  RETURN one.entity AS e, one.score AS score
  UNION ALL
  WITH keyword, here, found
  WHERE size(here) < $similar AND size(found) >= $candidates AND found[-1].score >= $threshold
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IS NOT NULL AND e.embedding IS NOT NULL
  RETURN e, vector.similarity.cosine(e.embedding, keyword.vector) AS score
}
WITH e, score
