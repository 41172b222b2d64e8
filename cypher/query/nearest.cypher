// The $k chunks and summaries nearest to a vector, and how often they mention the question's entities. A summary counts
// the mentions of all chunks below it. They are counted upwards from the entities: downwards, a high summary would read
// every mention below it. In an adopted corpus, the score of a chunk is that of its nearest window; a chunk has about
// five windows.
// $corpus, $vector, $k, $names
// $documents: only these, null: all
// → id, level, index, start, end, text, text_node: {element_id, key, begins}, page, heading,
//   document_id, document, source, path, score, occurrences
// include: nearest_nodes
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
       coalesce(n.text, [(n)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       [(n)-[r:STANDS_FOR]->(theirs) |
        {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key]), begins: n.start}][0] AS text_node,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path,
       score, reduce(total = 0, c IN counted | total + CASE c.id WHEN n.id THEN c.occurrences ELSE 0 END) AS occurrences
ORDER BY score DESC, id
