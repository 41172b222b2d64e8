// Chunks that are to be read again, at most $limit, with their windows and the hyperlinks of their document.
// $corpus, $limit
// → chunk, document, title_key, text, start, windows: [[start, end]], links: [[start, end, target]]
MATCH (c:UnlinkedChunk)
WHERE c.corpus = $corpus AND c:Chunk
WITH c ORDER BY c.document, c.index LIMIT $limit
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS chunk, d.id AS document, d.title_key AS title_key, c.text AS text, c.start AS start,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN [w.start, w.end] ORDER BY w.index } AS windows,
       [i IN range(0, size(coalesce(d.link_starts, [])) - 1) WHERE c.start <= d.link_starts[i] < c.end |
         [d.link_starts[i], d.link_ends[i], d.link_targets[i]]] AS links
ORDER BY document, start
