// Take the lock of a corpus; one row if it neither has a document nor is being imported, none otherwise.
// $corpus
// → free
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
WHERE NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL }
  AND NOT EXISTS { MATCH (:E2GImport {corpus: $corpus}) }
RETURN true AS free
