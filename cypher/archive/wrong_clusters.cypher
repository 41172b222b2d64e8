// At most $limit imported clusters, in the order of their ids: the last one, and one that has other members or another
// place than a cluster; null for none.
// $corpus, $after: an id, $limit
// → last, wrong
MATCH (n:Cluster {corpus: $corpus})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH n.id AS id, NOT EXISTS { MATCH (d:StagedDocument {corpus: $corpus, id: n.document}) WHERE d.characters >= n.end }
     OR COUNT { (n)<-[:IN_CLUSTER]-() } = 0 OR EXISTS { (n)<-[:IN_CLUSTER]-(m) WHERE m.level >= n.level }
     OR COUNT { (n)<-[:IN_CLUSTER]-() } <> COUNT { MATCH (n)<-[:IN_CLUSTER]-(m) RETURN DISTINCT m }
     OR COUNT { (n)-[:IN_CLUSTER]->() } > 10 AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
