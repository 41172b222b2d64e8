// Take the lock of a corpus; one row if a run still holds all of these documents, none otherwise.
// $corpus, $documents: [id], $run
// → held
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents AND d.run = $run
WITH count(d) AS held
WHERE held = size($documents)
RETURN held
