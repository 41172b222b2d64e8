// At most $limit imported chunks, in the order of their ids: the last one, and one that is not in its place in a
// document; null for none.
// $corpus, $after: an id, $limit
// → last, wrong
MATCH (n:Chunk {corpus: $corpus})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH n.id AS id, COUNT { (n)-[:FROM_DOCUMENT]->() } <> 1
     OR NOT EXISTS { (n)-[:FROM_DOCUMENT]->(d:StagedDocument) WHERE d.id = n.document AND d.state = 'ready' }
     OR EXISTS { (n)-[:NEXT_CHUNK]->(c) WHERE c.document <> n.document OR c.index <> n.index + 1 OR c.start < n.start }
     OR COUNT { (n)-[:CHILD_OF]->() } > 1 OR COUNT { (n)-[:IN_CLUSTER]->() } > 50 AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
