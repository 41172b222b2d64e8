// The end of a statement of another library: the retrievers of Neo4j and LangChain search the indexes of this project,
// bind node and score, and append this as their retrieval_query. It keeps the best results of one corpus. A node is a
// chunk, a summary or a window of a chunk. The text of adopted chunks and their windows is read from the text node.
// $corpus, $limit: maximum number of results
// → text, score, metadata
WITH node, score WHERE node.corpus = $corpus
MATCH (d:Document {corpus: $corpus, id: node.document})
OPTIONAL MATCH (node)-[:PART_OF]->(whole:Chunk)
WITH node, score, d, coalesce(whole, node) AS place
WITH node, score, d, place,
     coalesce([(place)-[r:STANDS_FOR]->(theirs) |
       // include: their_text
     ][0], '') AS their_text
RETURN coalesce(node.text, substring(their_text, node.start - place.start, node.end - node.start)) AS text, score, {
  id: node.id, corpus: node.corpus, document: d.title, source: d.source, start: node.start, end: node.end,
  text_node: [(place)-[r:STANDS_FOR]->(theirs) | {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key])}][0],
  level: place.level, score: score,
  page: nullIf(CASE WHEN node = place THEN place.page ELSE place.window_pages[node.index] END, ''),
  heading: nullIf(CASE WHEN node = place THEN place.heading ELSE place.window_headings[node.index] END, ''),
  path: COLLECT { MATCH (place)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level },
  entities: COLLECT { MATCH (e:Entity)-[m:FROM_CHUNK]->(place) RETURN e.name ORDER BY m.count DESC, e.key LIMIT 10 }
} AS metadata
ORDER BY score DESC, node.id LIMIT $limit
