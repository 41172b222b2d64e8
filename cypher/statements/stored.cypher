// The statements of a corpus that queries see.
// $corpus
// → ids
MATCH (s:Statement {corpus: $corpus})
WHERE s.id IS NOT NULL
RETURN collect(s.id) AS ids
