// Take the lock of a corpus; one row if a run still holds all of these documents, and the names that are kept apart are
// those that it knew, none otherwise.
// $corpus, $documents: [id], $run, $apart: [key] in order, or null where that does not matter
// → held
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents AND d.run = $run
WITH count(d) AS held
WHERE held = size($documents)
  AND ($apart IS NULL OR $apart = COLLECT {
    MATCH (a:Alias {corpus: $corpus}) WHERE a.key IS NOT NULL AND a.apart RETURN a.key ORDER BY a.key
  })
RETURN held
