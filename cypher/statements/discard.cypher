// Discard the statements that an interrupted run staged. `index/purge` removes the nodes.
// $corpus
MATCH (s:StagedStatement {corpus: $corpus})
WHERE s.run IS NOT NULL AND s.id IS NOT NULL
REMOVE s:StagedStatement
SET s:E2GRetired
