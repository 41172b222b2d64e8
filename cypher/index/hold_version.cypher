// Take the lock of a corpus; one row if a document still is what was read and no run is at work on it,
// and the names that are kept apart are those that were read, none otherwise. A run that has expired loses the document.
// $corpus, $document, $sha256, $apart: [key] in order
// → held
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (d:Document {corpus: $corpus, id: $document, state: 'ready', sha256: $sha256})
WHERE (d.run IS NULL OR NOT EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() })
  AND $apart = COLLECT {
    MATCH (a:Alias {corpus: $corpus}) WHERE a.key IS NOT NULL AND a.apart RETURN a.key ORDER BY a.key
  }
REMOVE d.run
RETURN d.id AS held
