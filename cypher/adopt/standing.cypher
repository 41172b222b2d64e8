// For which node of somebody else's each visible chunk of a corpus stands; null where that is gone.
// $corpus
// → chunk, node
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id IS NOT NULL
RETURN c.id AS chunk, [(c)-[:STANDS_FOR]->(theirs) | elementId(theirs)][0] AS node
