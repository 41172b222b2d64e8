// Record that documents have been updated for the names of a label that had changed. Forget a label without names.
// $corpus, $label, $version: that of the names, $changed: [name]
MATCH (n:E2GLinkedNames {corpus: $corpus, label: $label, version: $version})
WHERE n.changed = $changed
SET n.changed = []
WITH n
WHERE n.names = []
DELETE n
