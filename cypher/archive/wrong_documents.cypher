// At most $limit imported documents, in the order of their ids: the last one, and one that has other counts, or chunks
// in another order, than its chunks say; null for none.
// $corpus, $after: an id, $limit
// → last, wrong
MATCH (n:StagedDocument {corpus: $corpus})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
OPTIONAL MATCH (c:Chunk)-[:FROM_DOCUMENT]->(n)
WITH n, count(c) AS chunks, count(DISTINCT c.index) AS places, max(c.index) AS last, max(c.end) AS end,
     sum(c.tokens) AS tokens, sum(size(c.window_shares)) AS windows, sum(COUNT { (c)-[:NEXT_CHUNK]->() }) AS followed
WITH n.id AS id, chunks <> coalesce(n.chunks, 0) OR places <> chunks OR last <> chunks - 1 OR end > n.characters
     OR tokens <> coalesce(n.tokens, 0) OR windows <> coalesce(n.windows, 0)
     OR followed <> CASE chunks WHEN 0 THEN 0 ELSE chunks - 1 END AS wrong
RETURN max(id) AS last, min(CASE WHEN wrong THEN id END) AS wrong
