// From a cluster down to its text: the smallest clusters of a chunk, the clusters above them, and all chunks and clusters
// that are directly below one of these. A corpus has clusters after `e2g enrich`.
// $corpus, $title: of the document, $index: of the chunk, from 0
// :params {corpus: "sample", title: "Court of inquiry", index: 1}
// → path
MATCH (d:Document {corpus: $corpus, title: $title})
WHERE d.id IS NOT NULL
WITH d ORDER BY d.source LIMIT 1
MATCH (chunk:Chunk {corpus: $corpus, document: d.id, index: $index})-[:IN_CLUSTER*1..5]->(c:Cluster)
WITH DISTINCT c
MATCH path = (:Chunk|Cluster)-[:IN_CLUSTER]->(c)
RETURN path
LIMIT 100
