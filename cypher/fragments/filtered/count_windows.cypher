// How many windows are searched: those of $documents, in chunks that end at $until or before; null: all of a corpus.
// $documents, $until, $corpus
// ← corpus
// → windows
WITH *, CASE
  WHEN $documents IS NULL THEN corpus.windows
  WHEN $until IS NOT NULL THEN reduce(total = 0, shares IN COLLECT {
    MATCH (c:Chunk {corpus: $corpus}) WHERE c.document IN $documents AND c.end <= $until RETURN c.window_shares
  } | total + size(shares))
  ELSE reduce(total = 0, number IN COLLECT {
    MATCH (d:Document {corpus: $corpus}) WHERE d.id IN $documents RETURN d.windows
  } | total + number)
END AS windows
