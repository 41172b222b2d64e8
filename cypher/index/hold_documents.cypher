// Take the lock of a corpus. Return one row if a run still holds all of these documents and the split names have not
// changed, else none.
// $corpus, $documents: [id], $run, $apart: [key] of split names, sorted; null to ignore them
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
