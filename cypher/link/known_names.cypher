// The names that a corpus knows from the user's graph, by the label of the nodes, and those of them that documents may
// not have been updated for.
// $corpus
// → label, names: [name], type, version, changed: [name]
MATCH (n:E2GLinkedNames {corpus: $corpus})
RETURN n.label AS label, n.names AS names, n.type AS type, n.version AS version, n.changed AS changed
ORDER BY label
