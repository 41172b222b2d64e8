// Remove what is left of a corpus without documents: summaries that are cached for it alone, split names, names of linked
// nodes, communities, clusters, statements, the record of its models.
// $corpus
WITH $corpus AS corpus
WHERE NOT EXISTS { MATCH (d:Document {corpus: corpus}) WHERE d.id IS NOT NULL }
CALL (corpus) {
  MATCH (a:Alias {corpus: corpus})
  WHERE a.key IS NOT NULL
  DETACH DELETE a
}
CALL (corpus) {
  MATCH (n:E2GLinkedNames {corpus: corpus})
  DELETE n
}
CALL (corpus) {
  MATCH (index:E2GIndex {name: 'e2g/' + corpus})
  DELETE index
}
CALL (corpus) {
  CALL (corpus) {
    MATCH (c:Community {corpus: corpus}) WHERE c.id IS NOT NULL RETURN c
    UNION ALL
    MATCH (c:OutdatedCommunity {corpus: corpus}) RETURN c
    UNION ALL
    MATCH (c:StagedCommunity {corpus: corpus}) WHERE c.run IS NOT NULL AND c.id IS NOT NULL RETURN c
    UNION ALL
    MATCH (c:Statement {corpus: corpus}) WHERE c.id IS NOT NULL RETURN c
    UNION ALL
    MATCH (c:StagedStatement {corpus: corpus}) WHERE c.run IS NOT NULL AND c.id IS NOT NULL RETURN c
  }
  REMOVE c:Community:OutdatedCommunity:StagedCommunity:Statement:StagedStatement
  SET c:E2GRetired
}
CALL (corpus) {
  CALL (corpus) {
    MATCH (c:Cluster {corpus: corpus}) WHERE c.id IS NOT NULL RETURN c
    UNION ALL
    MATCH (c:OutdatedCluster {corpus: corpus}) RETURN c
    UNION ALL
    MATCH (c:StagedCluster {corpus: corpus}) WHERE c.run IS NOT NULL AND c.id IS NOT NULL RETURN c
  }
  REMOVE c:Cluster:OutdatedCluster:StagedCluster
  SET c:E2GRetired
}
MATCH (s:CachedSummary)
WHERE corpus IN s.corpora
SET s.corpora = [other IN s.corpora WHERE other <> corpus]
WITH s
WHERE s.corpora = []
DELETE s
