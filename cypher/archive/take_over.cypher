// Transfer the import of a run to another run, which ends it.
// $corpus, $run, $by
MATCH (i:E2GImport {corpus: $corpus, run: $run})
SET i.run = $by
