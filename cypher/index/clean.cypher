// Remove some of the nodes that were taken out of sight.
// $corpus, $limit
MATCH (n:E2GRetired {corpus: $corpus})
WITH n LIMIT $limit
DETACH DELETE n
