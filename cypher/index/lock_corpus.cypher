// Take the lock that writers of a corpus hold until the end of their transaction. The node is created and deleted at
// once, so nothing remains; its unique key makes other writers wait.
// $corpus
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
