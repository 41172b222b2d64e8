// List the text node that each visible chunk of a corpus stands for; null if it does not exist any more.
// $corpus
// → chunk, node
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id IS NOT NULL
RETURN c.id AS chunk, [(c)-[:STANDS_FOR]->(theirs) | elementId(theirs)][0] AS node
