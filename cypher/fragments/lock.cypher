// Take the lock of a corpus, until the end of the transaction.
// $corpus
// → locked
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
