// Release a corpus after an import.
// $corpus, $run
MATCH (i:E2GImport {corpus: $corpus, run: $run})
DELETE i
