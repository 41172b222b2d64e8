// At most $limit imported names, in the order of their keys: the last one, and one that neither stands for an entity
// in a document nor was split or merged by hand; null for none.
// $corpus, $after: a key, $limit
// → last, wrong
MATCH (n:Alias {corpus: $corpus})
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $limit
WITH n.key AS id, (n.name IS NULL) = EXISTS { (n)-[:ALIAS_OF]->() } OR n.name IS NULL AND n.apart IS NULL AND n.into IS NULL AND n.documents IS NULL
     OR EXISTS { (n)-[r:ALIAS_OF]->()
                 WHERE NOT EXISTS { MATCH (:StagedDocument {corpus: $corpus, id: r.document}) } } AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
