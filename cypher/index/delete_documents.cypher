// Remove Document nodes, after everything else of the documents was removed.
// $corpus, $documents: [id]
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents
DETACH DELETE d
