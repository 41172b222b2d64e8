// Like `query/nearest`, within the documents of a filter. Their chunks and summaries are compared one by one; in an
// adopted corpus, the windows of chunks. A summary is of one document.
// $corpus, $documents, $vector, $k, $names
// → id, level, index, start, end, text, text_node: {element_id, key, begins}, page, heading,
//   document_id, document, source, path, score, occurrences
CALL () {
  MATCH (n:Chunk {corpus: $corpus})
  WHERE n.document IN $documents AND n.embedding IS NOT NULL
  RETURN n, vector.similarity.cosine(n.embedding, $vector) AS score
  UNION ALL
  MATCH (n:Summary {corpus: $corpus})
  WHERE n.document IN $documents
  RETURN n, vector.similarity.cosine(n.embedding, $vector) AS score
  UNION ALL
  MATCH (c:Corpus {corpus: $corpus})
  WHERE c.adopts IS NOT NULL
  MATCH (w:Window {corpus: $corpus})-[:PART_OF]->(n:Chunk)
  WHERE w.document IN $documents
  RETURN n, max(vector.similarity.cosine(w.embedding, $vector)) AS score
}
WITH n, score ORDER BY round(score, 5) DESC, n.id LIMIT $k
WITH collect({node: n, score: score}) AS found
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
