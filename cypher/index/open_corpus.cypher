// Take the lock of a corpus; one row unless an import is making it, or it is adopted and should not be, or the other way
// round; none then.
// $corpus, $adopted: whether it should be
// → open
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
WHERE NOT EXISTS { MATCH (:E2GImport {corpus: $corpus, published: false}) }
  AND EXISTS { MATCH (c:Corpus {corpus: $corpus}) WHERE c.adopts IS NOT NULL } = $adopted
RETURN true AS open
