// The size of a corpus, as numbers.
// $corpus
// → documents, chunks, summaries, levels, entities, co_occurrences, mentions, communities, clusters, entity_vectors,
//   statements, characters, tokens
CALL () {
  MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL AND d.state = 'ready'
  RETURN count(d) AS documents, sum(d.characters) AS characters, sum(d.tokens) AS tokens
}
CALL () {
  MATCH (c:Chunk {corpus: $corpus}) WHERE c.id IS NOT NULL
  RETURN count(c) AS chunks, sum(COUNT { (c)<-[:FROM_CHUNK]-() }) AS mentions
}
CALL () {
  MATCH (s:Summary {corpus: $corpus}) WHERE s.id IS NOT NULL
  RETURN count(s) AS summaries, coalesce(max(s.level), 0) AS levels
}
CALL () {
  MATCH (e:Entity {corpus: $corpus}) WHERE e.key IS NOT NULL AND EXISTS { (e)-[:FROM_CHUNK]->(:Chunk) }
  RETURN count(e) AS entities, count(e.embedding) AS entity_vectors,
         sum(COUNT { (e)-[:CO_OCCURS]->() }) AS co_occurrences
}
CALL () {
  MATCH (c:Community {corpus: $corpus}) WHERE c.id IS NOT NULL
  RETURN count(c) AS communities
}
CALL () {
  MATCH (c:Cluster {corpus: $corpus}) WHERE c.id IS NOT NULL
  RETURN count(c) AS clusters
}
CALL () {
  MATCH (s:Statement {corpus: $corpus}) WHERE s.id IS NOT NULL
  RETURN count(s) AS statements
}
RETURN documents, chunks, summaries, levels, entities, co_occurrences, mentions, communities, clusters, entity_vectors,
       statements, characters, tokens
