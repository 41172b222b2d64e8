// Let another run end what a run was importing.
// $corpus, $run, $by
MATCH (i:E2GImport {corpus: $corpus, run: $run})
SET i.run = $by
