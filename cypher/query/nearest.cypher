// The $k nodes of the whole tree, chunks and summaries, nearest to a vector, and how often they mention the
// question's entities: a summary as often as all chunks below it.
// $corpus, $vector, $k, $names
// → id, level, index, text, start, end, page, heading, document_id, document, source, path, score, occurrences
CYPHER 25
UNWIND CASE $names WHEN [] THEN [NULL] ELSE $names END AS name
OPTIONAL MATCH (e:Entity {corpus: $corpus, name: name})
WITH collect(e) AS entities
MATCH (n:Chunk|Summary)
  SEARCH n IN (VECTOR INDEX e2g_embedding FOR $vector WHERE n.corpus = $corpus LIMIT $k) SCORE AS score
MATCH (d:Document {corpus: $corpus, id: n.document})
CALL (n, entities) {
  UNWIND entities AS e
  MATCH (n)<-[:CHILD_OF*0..]-(c:Chunk)
  MATCH (e)-[m:FROM_CHUNK]->(c)
  RETURN coalesce(sum(m.count), 0) AS occurrences
}
RETURN n.id AS id, n.level AS level, n.index AS index, n.text AS text, n.start AS start, n.end AS end,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path,
       score, occurrences
ORDER BY score DESC, id
