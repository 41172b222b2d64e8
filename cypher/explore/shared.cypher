// What two documents have in common: the entities that both mention, the rarest of the corpus first, each with one
// chunk of either document.
// $corpus, $first, $second: titles of the documents
// :params {corpus: "sample", first: "Court of inquiry", second: "Theodora Quill, engineer"}
// → one, other
MATCH (d1:Document {corpus: $corpus, title: $first})
WHERE d1.id IS NOT NULL
WITH d1 ORDER BY d1.source LIMIT 1
MATCH (d2:Document {corpus: $corpus, title: $second})
WHERE d2.id IS NOT NULL
WITH d1, d2 ORDER BY d2.source LIMIT 1
MATCH (d1)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(e:Entity)
WITH DISTINCT d1, d2, e
WHERE EXISTS { (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d2) }
WITH d1, d2, e ORDER BY COUNT { MATCH (e)-[:FROM_CHUNK]->(c:Chunk) RETURN DISTINCT c.document }, e.chunks, e.key
LIMIT 10
CALL (d1, e) {
  MATCH one = (e)-[m:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d1)
  RETURN one ORDER BY m.count DESC, c.index LIMIT 1
}
CALL (d2, e) {
  MATCH other = (e)-[m:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d2)
  RETURN other ORDER BY m.count DESC, c.index LIMIT 1
}
RETURN one, other
