// Like `query/synonyms`. The index does not know corpora: if all that it finds is near enough, and too little of it of
// this corpus, all entities of the corpus are compared.
// $corpus, $keywords: [{key, stem, vector}], stem may be null; $meanings, $forms, $similar, $candidates, $threshold
// → keyword, entity, by, score. `entity` is its key, `by` one of key, alias, form and vector. The score is 1, but by
//   vector (1 + cosine) / 2.
UNWIND $keywords AS keyword
CALL (keyword) {
  MATCH (e:Entity {corpus: $corpus, key: keyword.key})
  RETURN e, 'key' AS by, 1.0 AS score
  UNION ALL
  MATCH (:Alias {corpus: $corpus, key: keyword.key})-[r:ALIAS_OF]->(e:Entity)
  WITH e, sum(r.count) AS count ORDER BY count DESC, e.key LIMIT $meanings
  RETURN e, 'alias' AS by, 1.0 AS score
  UNION ALL
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key STARTS WITH keyword.stem AND e.key <> keyword.key AND size(e.key) <= size(keyword.stem) + 6
  WITH e ORDER BY size(e.key), e.key LIMIT $forms
  RETURN e, 'form' AS by, 1.0 AS score
  UNION ALL
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
  WHERE score >= $threshold
  WITH e, score ORDER BY round(score, 5) DESC, e.key LIMIT $similar
  RETURN e, 'vector' AS by, score
}
WITH keyword, e, by, score
WHERE e.chunks > 0
RETURN keyword.key AS keyword, e.key AS entity, by, score
