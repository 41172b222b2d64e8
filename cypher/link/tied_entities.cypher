// The entities of the chunks of an adopted corpus whose text nodes a relationship ties nodes of the user's graph to.
// $corpus, $nodes: [element id]
// → node, keys: [key]
UNWIND $nodes AS node
MATCH (n)
WHERE elementId(n) = node
MATCH (n)--()<-[:STANDS_FOR]-(:Chunk {corpus: $corpus})<-[:FROM_CHUNK]-(e:Entity)
WHERE e.key IS NOT NULL
RETURN node, collect(DISTINCT e.key) AS keys
