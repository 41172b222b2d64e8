// One branch of a document's tree: from a chunk up to the highest summary above it, with all nodes that each of these
// summaries covers.
// $corpus, $title: of the document, $index: of the chunk, from 0
// :params {corpus: "sample", title: "Court of inquiry", index: 1}
// → leaf, child
MATCH (d:Document {corpus: $corpus, title: $title})
WHERE d.id IS NOT NULL
WITH d ORDER BY d.source LIMIT 1
MATCH leaf = (:Chunk {corpus: $corpus, document: d.id, index: $index})-[:FROM_DOCUMENT]->(d)
OPTIONAL MATCH (c:Chunk {corpus: $corpus, document: d.id, index: $index})-[:CHILD_OF*1..]->(s:Summary)
OPTIONAL MATCH child = (:Chunk|Summary)-[:CHILD_OF]->(s)
RETURN leaf, child
LIMIT 100
