// Take the lock of a corpus; one row if a run is importing it, none otherwise.
// $corpus, $run
// → mine
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (i:E2GImport {corpus: $corpus, run: $run})
RETURN true AS mine
