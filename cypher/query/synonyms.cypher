// The entities that keywords mean: those with this key, those with this alias, those whose key begins with the stem and
// is little longer (other forms of a word are among these), and those whose names are near.
//
// A keyword has at most $meanings entities by alias, $forms by its stem, and $similar by its vector, whose score is at
// least $threshold. The index is approximate, so it is asked for $candidates entities.
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
  // include: near_entities
  WHERE score >= $threshold
  WITH e, score ORDER BY round(score, 5) DESC, e.key LIMIT $similar
  RETURN e, 'vector' AS by, score
}
WITH keyword, e, by, score
WHERE e.chunks > 0
RETURN keyword.key AS keyword, e.key AS entity, by, score
