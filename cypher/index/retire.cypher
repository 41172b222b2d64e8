// Remove the visible chunks, windows and summaries of documents, and entities that nothing else mentions. Edges between
// entities are adjusted before.
// $corpus, $documents: [id]
UNWIND $documents AS document
CALL (document) {
  MATCH (n:Chunk {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:Window {corpus: $corpus, document: document}) RETURN n
  UNION ALL
  MATCH (n:Summary {corpus: $corpus, document: document}) RETURN n
}
OPTIONAL MATCH (n)<-[:FROM_CHUNK]-(e:Entity)
WITH collect(DISTINCT n) AS gone, collect(DISTINCT e) AS entities
FOREACH (n IN gone | DETACH DELETE n)
WITH entities
UNWIND entities AS e
OPTIONAL MATCH (e)-[left:FROM_CHUNK]->()
WITH e, count(left) AS mentions
WHERE mentions = 0
DETACH DELETE e
