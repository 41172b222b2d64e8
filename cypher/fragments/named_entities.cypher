// The entities that a question names, but for those in more than $hub chunks.
// $corpus, $names, $hub
// → named: [entity]
CALL () {
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IN $names AND 0 < e.chunks <= $hub
  RETURN collect(e) AS named
}
