// Take the lock of a corpus; one row unless an import is making it, none then.
// $corpus
// → open
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
WHERE NOT EXISTS { MATCH (:E2GImport {corpus: $corpus, published: false}) }
RETURN true AS open
