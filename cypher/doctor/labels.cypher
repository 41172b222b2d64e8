// Count the nodes with labels that this project uses: those with a property `corpus`, and others.
// → label, ours, foreign
CALL () {
  MATCH (n:Document) RETURN 'Document' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Chunk) RETURN 'Chunk' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Window) RETURN 'Window' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Summary) RETURN 'Summary' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Entity) RETURN 'Entity' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Alias) RETURN 'Alias' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Corpus) RETURN 'Corpus' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Community) RETURN 'Community' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Cluster) RETURN 'Cluster' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Statement) RETURN 'Statement' AS label, count(n.corpus) AS ours, count(*) AS nodes
  UNION ALL
  MATCH (n:Term) RETURN 'Term' AS label, count(n.corpus) AS ours, count(*) AS nodes
}
RETURN label, ours, nodes - ours AS foreign
