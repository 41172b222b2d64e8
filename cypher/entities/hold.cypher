// Take the lock of a corpus. Return one row if the corpus has not changed, else none.
// $corpus, $revision
// → held
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (c:Corpus {corpus: $corpus})
WHERE coalesce(c.revision, 0) = $revision
RETURN true AS held
