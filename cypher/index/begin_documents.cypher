// Set the state of documents to `indexing`.
// $corpus, $documents: [id]
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents
SET d.work = 'indexing'
