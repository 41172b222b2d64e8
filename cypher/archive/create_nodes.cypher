// Write nodes of an archive. Documents are staged, so that no query finds the corpus.
// $corpus, $rows: [{key, labels, properties, embedding}]
UNWIND $rows AS row
CREATE (n:E2GImported)
SET n:$(row.labels)
SET n = row.properties
SET n.corpus = $corpus, n.import_key = row.key
WITH n, row
WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
