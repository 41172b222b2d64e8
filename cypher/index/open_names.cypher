// The documents with names that other documents may explain.
// $corpus
// → document, names: [name], open: [name], resolved: [name, full name, name, full name, …]
MATCH (d:Document {corpus: $corpus, state: 'ready'})
WHERE d.id IS NOT NULL AND d.open_names <> []
RETURN d.id AS document, d.names AS names, d.open_names AS open, d.resolved_names AS resolved
