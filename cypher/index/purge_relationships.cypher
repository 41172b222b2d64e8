// Remove at most $limit relationships of soft-deleted nodes.
// $corpus, $limit
MATCH (:E2GRetired {corpus: $corpus})-[r]-()
WITH DISTINCT r LIMIT $limit
DELETE r
