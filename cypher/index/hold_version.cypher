// Take the lock of a corpus. Return one row if a document still has this text, no run is indexing it, and the split
// names have not changed, else none. A run whose lease has expired loses the document.
// $corpus, $document, $sha256, $apart: [key] of split names, sorted
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
