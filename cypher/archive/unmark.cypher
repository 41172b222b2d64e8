// Remove the import marks from at most $limit nodes.
// $corpus, $limit
MATCH (n:E2GImported {corpus: $corpus})
WHERE n.import_key IS NOT NULL
WITH n LIMIT $limit
REMOVE n:E2GImported, n.import_key
