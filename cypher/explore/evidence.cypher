// The evidence of a question: its nodes, the question's entities in them, and the way up the tree.
// $corpus, $nodes: [id], $names
// → n, mention, path
MATCH (n:Chunk|Summary {corpus: $corpus})
WHERE n.id IN $nodes
OPTIONAL MATCH mention = (n)<-[:FROM_CHUNK]-(e:Entity)
WHERE e.key IN $names
OPTIONAL MATCH path = (n)-[:CHILD_OF*1..]->(:Summary)
RETURN n, mention, path
