// Like `query/nearest`. The indexes of chunks and of summaries do not know corpora: if one finds too few nodes of this
// corpus, all such nodes of the corpus are compared; in an adopted corpus, all windows.
// $corpus, $vector, $k, $names
// → id, level, index, start, end, text, text_node: {element_id, key, begins}, page, heading,
//   document_id, document, source, path, score, occurrences
CALL () {
  CALL db.index.vector.queryNodes('e2g_embedding', 5 * $k, $vector) YIELD node AS n, score
  WHERE n.corpus = $corpus
  RETURN collect({node: n, score: score}) AS chunks
}
CALL () {
  CALL db.index.vector.queryNodes('e2g_summary_embedding', 5 * $k, $vector) YIELD node AS n, score
  WHERE n.corpus = $corpus
  RETURN collect({node: n, score: score}) AS summaries
}
CALL (chunks, summaries) {
  WITH chunks WHERE size(chunks) >= $k
  UNWIND chunks AS one
  RETURN one
  UNION ALL
  WITH chunks WHERE size(chunks) < $k
  MATCH (n:Chunk {corpus: $corpus})
  WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL
  RETURN {node: n, score: vector.similarity.cosine(n.embedding, $vector)} AS one
  UNION ALL
  MATCH (c:Corpus {corpus: $corpus})
  WHERE c.adopts IS NOT NULL
  MATCH (w:Window {corpus: $corpus})-[:PART_OF]->(n:Chunk)
  WHERE w.id IS NOT NULL
  WITH n, max(vector.similarity.cosine(w.embedding, $vector)) AS score
  RETURN {node: n, score: score} AS one
  UNION ALL
  WITH summaries WHERE size(summaries) >= $k
  UNWIND summaries AS one
  RETURN one
  UNION ALL
  WITH summaries WHERE size(summaries) < $k
  MATCH (n:Summary {corpus: $corpus})
  WHERE n.id IS NOT NULL
  RETURN {node: n, score: vector.similarity.cosine(n.embedding, $vector)} AS one
}
WITH one ORDER BY round(one.score, 5) DESC, one.node.id LIMIT $k
WITH collect(one) AS found
WITH found, [one IN found | one.node] AS nodes
CALL (nodes) {
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IN $names
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
  WITH nodes, c, sum(m.count) AS count
  MATCH (c)-[:CHILD_OF*0..]->(n)
  WHERE n IN nodes
  WITH n.id AS id, sum(count) AS occurrences
  RETURN collect({id: id, occurrences: occurrences}) AS counted
}
UNWIND found AS one
WITH one.node AS n, one.score AS score, counted
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS id, n.level AS level, n.index AS index, n.start AS start, n.end AS end,
       coalesce(n.text, [(n)-[r:STANDS_FOR]->(theirs) | toStringOrNull(theirs[r.text])][0], '') AS text,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path,
       score, reduce(total = 0, c IN counted | total + CASE c.id WHEN n.id THEN c.occurrences ELSE 0 END) AS occurrences
ORDER BY score DESC, id
