// Take the lock of a corpus. Return one row if neither the corpus nor its clusters have changed, and the run's staged
// clusters are still there, else none.
// $corpus, $revision, $made_from: the revision of its clusters, or null, $run, $staged: their number
// → held
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (c:Corpus {corpus: $corpus})
WHERE coalesce(c.revision, 0) = $revision
  AND coalesce(c.clusters, -1) = coalesce($made_from, -1)
  AND COUNT { MATCH (s:StagedCluster {corpus: $corpus, run: $run}) WHERE s.id IS NOT NULL } = $staged
RETURN true AS held
