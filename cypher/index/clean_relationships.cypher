// Remove some of the relationships of nodes that were taken out of sight.
// $corpus, $limit
MATCH (:E2GRetired {corpus: $corpus})-[r]-()
WITH DISTINCT r LIMIT $limit
DELETE r
