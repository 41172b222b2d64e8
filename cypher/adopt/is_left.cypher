// Take the lock of a corpus. Return one row if it has no documents any more, else none.
// $corpus
// → left
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
WHERE NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL }
RETURN true AS left
