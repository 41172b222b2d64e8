// Take the lock that writers of a corpus hold until their transaction ends, so that one goes after the other. Made and
// deleted at once, the node leaves nothing behind; its unique key makes others wait.
// $corpus
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
