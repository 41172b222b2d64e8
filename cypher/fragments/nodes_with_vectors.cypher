// The nodes of a corpus with vectors of a model.
// $corpus
// → n
CALL () {
  MATCH (n:Window {corpus: $corpus}) WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Chunk {corpus: $corpus})
  WHERE n.id IS NOT NULL AND (n.embedding IS NOT NULL OR n.sentence_vectors IS NOT NULL)
  RETURN n
  UNION ALL
  MATCH (n:Summary {corpus: $corpus}) WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Entity {corpus: $corpus})
  WHERE n.key IS NOT NULL AND (n.embedding IS NOT NULL OR n.embedded_name IS NOT NULL)
  RETURN n
  UNION ALL
  MATCH (n:Community {corpus: $corpus}) WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Cluster {corpus: $corpus}) WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Statement {corpus: $corpus}) WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL RETURN n
}
