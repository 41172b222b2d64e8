// The end of a statement that others begin: Neo4j's and LangChain's retrievers search our indexes, bind node and score,
// and append this, their retrieval_query. Of what they found in all corpora it leaves the best of one. A node is a chunk,
// a summary or a window of a chunk; what stands for a text node of somebody else's is told by the text of that.
// $corpus, $limit: how many at most
// → text, score, metadata
WITH node, score WHERE node.corpus = $corpus
MATCH (d:Document {corpus: $corpus, id: node.document})
OPTIONAL MATCH (node)-[:PART_OF]->(whole:Chunk)
WITH node, score, d, coalesce(whole, node) AS place
WITH node, score, d, place,
     coalesce([(place)-[r:STANDS_FOR]->(theirs) | toStringOrNull(theirs[r.text])][0], '') AS their_text
RETURN coalesce(node.text, substring(their_text, node.start - place.start, node.end - node.start)) AS text, score, {
  id: node.id, corpus: node.corpus, document: d.title, source: d.source, start: node.start, end: node.end,
  text_node: [(place)-[r:STANDS_FOR]->(theirs) | {element_id: elementId(theirs), key: toStringOrNull(theirs[r.key])}][0],
  level: place.level, page: place.page, heading: place.heading, score: score,
  path: COLLECT { MATCH (place)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level },
  entities: COLLECT { MATCH (e:Entity)-[m:FROM_CHUNK]->(place) RETURN e.name ORDER BY m.count DESC, e.key LIMIT 10 }
} AS metadata
ORDER BY score DESC, node.id LIMIT $limit
