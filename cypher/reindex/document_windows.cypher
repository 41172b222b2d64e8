// The vectors of the windows of at most $limit chunks of a document, in reading order.
// $corpus, $document, $after: the number of a chunk, $limit
// → index, vectors
MATCH (c:Chunk {corpus: $corpus, document: $document})
WHERE c.index > $after
WITH c ORDER BY c.index LIMIT $limit
RETURN c.index AS index, COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN w.embedding ORDER BY w.index } AS vectors
ORDER BY index
