// Release the documents of a run, and remove the records of this run and of expired runs of the corpus.
// $corpus, $run
CALL () {
  MATCH (d:Document {corpus: $corpus})
  WHERE d.id IS NOT NULL AND d.run = $run
  REMOVE d.run
  SET d.work = CASE d.work WHEN 'indexing' THEN 'pending' ELSE d.work END
}
MATCH (r:E2GRun {corpus: $corpus})
WHERE r.id = $run OR r.expires < timestamp()
DELETE r
