// Remove the mark of an adopted corpus, and its abandoned runs.
// $corpus
CALL () {
  MATCH (c:Corpus {corpus: $corpus})
  WHERE c.adopts IS NOT NULL
  DETACH DELETE c
}
MATCH (r:E2GRun {corpus: $corpus})
WHERE r.expires < timestamp()
DELETE r
