// Remove documents of which nothing else is left.
// $corpus, $documents: [id]
MATCH (d:Document {corpus: $corpus})
WHERE d.id IN $documents
DETACH DELETE d
