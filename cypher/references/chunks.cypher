// Chunks that are to be read again, at most $limit, with their windows and the hyperlinks of their document.
// $corpus, $limit
// → chunk, document, title_key, text, start, windows: [[start, end]], links: [[start, end, target]]
MATCH (c:UnlinkedChunk)
WHERE c.corpus = $corpus AND c:Chunk
WITH c LIMIT $limit
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
WITH d, collect(c) AS chunks
WITH d, chunks, coalesce(d.link_starts, []) AS starts, coalesce(d.link_ends, []) AS ends,
     coalesce(d.link_targets, []) AS targets
UNWIND chunks AS c
WITH d, c, c.start AS first, c.end AS after, starts, ends, targets
RETURN c.id AS chunk, d.id AS document, d.title_key AS title_key, c.text AS text, first AS start,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN [w.start, w.end] ORDER BY w.index } AS windows,
       [i IN range(0, size(starts) - 1) WHERE first <= starts[i] < after | [starts[i], ends[i], targets[i]]] AS links
