// Whether a corpus has its vectors elsewhere than where the statement looks for them: it was reindexed.
// $corpus
// = an expression, a truth value
EXISTS {
  MATCH (own:E2GIndex {name: 'e2g/' + $corpus})
  WHERE replace(coalesce(own.vectors, ''), '_cjk', '') <> substring('embedding', 9)
}
