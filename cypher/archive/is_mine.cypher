// Take the lock of a corpus. Return one row if a run is importing it, else none.
// $corpus, $run
// → mine
// include: lock
MATCH (i:E2GImport {corpus: $corpus, run: $run})
RETURN true AS mine
