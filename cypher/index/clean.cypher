// Remove some of the nodes that were taken out of sight and have no relationships any more.
// $corpus, $limit
MATCH (n:E2GRetired {corpus: $corpus})
WHERE NOT EXISTS { (n)--() }
WITH n LIMIT $limit
DELETE n
