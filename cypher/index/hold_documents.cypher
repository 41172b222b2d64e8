// Take the lock of a corpus. Return one row if a run still holds all of these documents, the corpus has the vectors of the
// same model, and neither the names that were split or merged by hand nor those of linked nodes have changed, else none.
// $corpus, $documents: [id], $run
// $overrides: [[key, key of the other name or '']], sorted; null to ignore both. $linked: [version of names], sorted
// → held
// include: lock
// include: moved
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents AND d.run = $run AND NOT moved
WITH count(d) AS held
WHERE held = size($documents)
  AND ($overrides IS NULL OR $overrides =
    // include: decided_names
    AND $linked = COLLECT { MATCH (n:E2GLinkedNames {corpus: $corpus}) RETURN n.version ORDER BY n.version })
RETURN held
