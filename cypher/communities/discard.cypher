// Discard the communities that an interrupted run staged. `index/purge` removes the nodes.
// $corpus
MATCH (s:StagedCommunity {corpus: $corpus})
WHERE s.run IS NOT NULL AND s.id IS NOT NULL
REMOVE s:StagedCommunity
SET s:E2GRetired
