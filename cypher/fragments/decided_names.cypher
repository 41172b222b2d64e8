// What was decided by hand about names of a corpus: those that were split or merged, sorted.
// $corpus
// = an expression, [[key, key of the other name or '']]
COLLECT {
  MATCH (a:Alias {corpus: $corpus}) WHERE a.key IS NOT NULL AND (a.apart OR a.into IS NOT NULL)
  RETURN [a.key, coalesce(a.into, '')] ORDER BY a.key
}
