// Take the lock of a corpus; one row if nodes of it are left that were taken out of sight, or visible chunks whose
// edges are not counted, none otherwise.
// $corpus
// → unclean
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
WHERE EXISTS { MATCH (:E2GRetired {corpus: $corpus}) }
   OR EXISTS { MATCH (c:UncountedChunk) WHERE c.corpus = $corpus AND c:Chunk AND NOT c:E2GImported }
RETURN true AS unclean
