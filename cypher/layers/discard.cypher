// Discard the nodes of a layer that an interrupted run staged. `index/purge` removes them.
// $corpus, $staged: their label
MATCH (s:StagedCluster|StagedCommunity|StagedStatement {corpus: $corpus})
WHERE $staged IN labels(s) AND s.run IS NOT NULL AND s.id IS NOT NULL
REMOVE s:StagedCluster:StagedCommunity:StagedStatement
SET s:E2GRetired
