// Make the staged clusters of a run visible, in place of all others but $kept. `index/purge` removes the nodes.
// $corpus, $run, $revision: what they were made from, $kept: [id]
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.clusters = $revision
WITH corpus
CALL () {
  MATCH (c:Cluster {corpus: $corpus})
  WHERE c.id IS NOT NULL AND NOT c.id IN $kept
  REMOVE c:Cluster
  SET c:E2GRetired
}
CALL () {
  MATCH (c:OutdatedCluster {corpus: $corpus})
  REMOVE c:OutdatedCluster
  SET c:E2GRetired
}
CALL () {
  MATCH (c:StagedCluster {corpus: $corpus, run: $run})
  WHERE c.id IS NOT NULL
  REMOVE c:StagedCluster, c.run
  SET c:Cluster
}
