// Slices of the texts of chunks.
// $corpus, $spans: [{chunk, start, end}], relative to the start of the chunk
// → chunk, start, text
UNWIND $spans AS span
MATCH (c:Chunk {corpus: $corpus, id: span.chunk})
WITH span, coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
  // include: their_text
][0], '') AS whole
RETURN span.chunk AS chunk, span.start AS start, substring(whole, span.start, span.end - span.start) AS text
