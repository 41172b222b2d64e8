// Whether a corpus has its vectors elsewhere than where the statement looks for them: it was reindexed.
// $corpus
// → moved
CALL () {
  OPTIONAL MATCH (own:E2GIndex {name: 'e2g/' + $corpus})
  WITH own, CASE WHEN own.vectors =~ '_[0-9a-f]+(_[a-z]+)?' THEN left(own.vectors, 9) ELSE '' END AS its
  RETURN own IS NOT NULL AND its <> substring('embedding', 9) AS moved
}
