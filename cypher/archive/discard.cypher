// Remove at most $limit nodes of an import that was not completed.
// $corpus, $limit
MATCH (n:E2GImported {corpus: $corpus})
WHERE n.import_key IS NOT NULL
WITH n LIMIT $limit
DETACH DELETE n
