// Remove at most $limit soft-deleted nodes that have no relationships any more.
// $corpus, $limit
MATCH (n:E2GRetired {corpus: $corpus})
WHERE NOT EXISTS { (n)--() }
WITH n LIMIT $limit
DELETE n
