// Record what other documents have decided about names of a document.
// $corpus, $document, $resolved: [name, full name, name, full name, …]
MATCH (d:Document {corpus: $corpus, id: $document})
SET d.resolved_names = $resolved
