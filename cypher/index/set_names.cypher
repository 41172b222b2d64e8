// Record what other documents need to know of the names of a document, and what they have decided about them.
// $corpus, $document, $names: [name], $name_counts: [count], $open_names: [name],
// $resolved_names: [name, full name, name, full name, …]
MATCH (d:Document {corpus: $corpus, id: $document})
SET d.names = $names, d.name_counts = $name_counts, d.open_names = $open_names, d.resolved_names = $resolved_names
