// Say that documents are being worked on now.
// $corpus, $documents: [id]
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents
SET d.work = 'indexing'
