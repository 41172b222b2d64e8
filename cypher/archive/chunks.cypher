// Read the chunks of a corpus, in the order of the ids of their documents, and of their places in these. Windows are
// relative to the start of the chunk, and `vectors` are theirs.
// $corpus
// → document, text, start, tokens, own, page, heading, window_pages, window_headings, notes, sentence_vectors,
//   windows: [[start, end]], vectors
MATCH (c:Chunk {corpus: $corpus})
WHERE c.document IS NOT NULL
WITH c ORDER BY c.document, c.index
RETURN c.document AS document, c.text AS text, c.start AS start, c.tokens AS tokens, c.own AS own, c.page AS page,
       c.heading AS heading, c.window_pages AS window_pages, c.window_headings AS window_headings, c.notes AS notes,
       c.sentence_vectors AS sentence_vectors,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN [w.start - c.start, w.end - c.start] ORDER BY w.index } AS windows,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN w.embedding ORDER BY w.index } AS vectors
ORDER BY document, c.index
