// Whether a corpus has its vectors elsewhere than where the statement looks for them: it was reindexed.
// $corpus
// → moved
CALL () {
  OPTIONAL MATCH (own:E2GIndex {name: 'e2g/' + $corpus})
  RETURN own IS NOT NULL AND replace(coalesce(own.vectors, ''), '_cjk', '') <> substring('embedding', 9) AS moved
}
