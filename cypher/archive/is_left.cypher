// Take the lock of a corpus. Return one row if a run is importing it and nodes are marked as imported, else none.
// $corpus, $run
// → left
// include: lock
MATCH (i:E2GImport {corpus: $corpus, run: $run})
WHERE EXISTS { MATCH (n:E2GImported {corpus: $corpus}) WHERE n.import_key IS NOT NULL }
RETURN true AS left
