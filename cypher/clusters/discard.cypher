// Discard the clusters that an interrupted run staged. `index/purge` removes the nodes.
// $corpus
MATCH (s:StagedCluster {corpus: $corpus})
WHERE s.run IS NOT NULL AND s.id IS NOT NULL
REMOVE s:StagedCluster
SET s:E2GRetired
