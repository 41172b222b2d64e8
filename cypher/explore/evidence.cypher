// The evidence of a question: the shortest paths between its entities, through names where these are as short, the
// chunks and summaries that were returned, the question's entities in them, and the path from each to the root of the
// tree.
// $corpora: [name], $pairs: [{a, b}], keys of entities, $nodes: [id], $names: keys of entities
// :params {corpora: ["sample"], pairs: [{a: "luke farran", b: "theodora quill"}], nodes: [], names: []}
// → path
UNWIND $corpora AS corpus
CALL (corpus) {
  UNWIND $pairs AS pair
  MATCH (a:Entity {corpus: corpus, key: pair.a})
  MATCH (b:Entity {corpus: corpus, key: pair.b})
  MATCH shortest = shortestPath((a)-[:CO_OCCURS*..6]-(b))
  OPTIONAL MATCH named = shortestPath((a)-[:CO_OCCURS*..6]-(b))
  WHERE all(n IN nodes(named) WHERE n IN [a, b] OR coalesce(n.type <> 'noun', n.name <> toLower(n.name)))
  RETURN CASE length(named) WHEN length(shortest) THEN named ELSE shortest END AS path
  LIMIT 30
  UNION
  UNWIND $nodes AS id
  MATCH path = (n:Chunk|Summary {corpus: corpus, id: id})
  RETURN path
  UNION
  UNWIND $nodes AS id
  MATCH path = (:Chunk {corpus: corpus, id: id})<-[:FROM_CHUNK]-(e:Entity)
  WHERE e.key IN $names
  RETURN path
  UNION
  UNWIND $nodes AS id
  MATCH path = (:Chunk|Summary {corpus: corpus, id: id})-[:CHILD_OF*1..]->(:Summary)
  RETURN path
}
RETURN path
LIMIT 300
