// Take the lock of a corpus; one row if nodes of it are left that were taken out of sight, none otherwise.
// $corpus
// → unclean
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
WHERE EXISTS { MATCH (:E2GRetired {corpus: $corpus}) }
RETURN true AS unclean
