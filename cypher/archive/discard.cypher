// Remove some nodes of an import that came to nothing.
// $corpus, $limit
MATCH (n:E2GImported {corpus: $corpus})
WHERE n.import_key IS NOT NULL
WITH n LIMIT $limit
DETACH DELETE n
