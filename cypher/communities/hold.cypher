// Take the lock of a corpus. Return one row if neither the corpus nor its communities have changed, and the run's staged
// communities are still there, else none.
// $corpus, $revision, $made_from: the revision of its communities, or null, $run, $staged: their number
// → held
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (c:Corpus {corpus: $corpus})
WHERE coalesce(c.revision, 0) = $revision
  AND coalesce(c.communities, -1) = coalesce($made_from, -1)
  AND COUNT { MATCH (s:StagedCommunity {corpus: $corpus, run: $run}) WHERE s.id IS NOT NULL } = $staged
RETURN true AS held
