// How many nodes carry a label of ours: those of a corpus, and those that are somebody else's.
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
}
RETURN label, ours, nodes - ours AS foreign
