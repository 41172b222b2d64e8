// Take the lock of a corpus. Return one row if a document still has this text, no run is indexing it, and what its
// mentions depend on has not changed, else none: the names that were split or merged by hand, and those of linked nodes.
// A run whose lease has expired loses the document.
// $corpus, $document, $sha256, $overrides: [[key, key of the other name or '']], sorted; $linked: [version], sorted
// → held
// include: lock
MATCH (d:Document {corpus: $corpus, id: $document, state: 'ready', sha256: $sha256})
WHERE (d.run IS NULL OR NOT EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() })
  AND $overrides =
    // include: decided_names
  AND $linked = COLLECT { MATCH (n:E2GLinkedNames {corpus: $corpus}) RETURN n.version ORDER BY n.version }
REMOVE d.run
RETURN d.id AS held
