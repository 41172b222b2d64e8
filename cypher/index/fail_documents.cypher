// Record why documents could not be indexed.
// $corpus, $documents: [id], $error
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents
SET d.work = 'failed', d.error = $error
