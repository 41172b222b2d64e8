// Store the names that a corpus knows from nodes of the user's graph with a label, unless its documents were deleted.
// $corpus, $label, $names: [name], $type, $version, $changed: [name], those whose documents are to be updated
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
WITH d LIMIT 1
MERGE (n:E2GLinkedNames {corpus: $corpus, label: $label})
SET n.names = $names, n.type = $type, n.version = $version, n.changed = $changed
