// Count the windows that contain each term. Runs before staged chunks replace the visible chunks of documents;
// unchanged chunks are kept. Chunks without text have no terms.
// $corpus, $rows: [{document, chunks: [id] of unchanged chunks}]
UNWIND $rows AS row
CALL (row) {
  MATCH (c:Chunk {corpus: $corpus, document: row.document}) WHERE NOT c.id IN row.chunks RETURN c, -1 AS sign
  UNION ALL
  MATCH (c:StagedChunk {corpus: $corpus, document: row.document}) RETURN c, 1 AS sign
}
WITH c.terms AS terms, c.term_windows AS windows, sign
WHERE terms IS NOT NULL
UNWIND range(0, size(terms) - 1) AS i
WITH terms[i] AS term, sum(sign * windows[i]) AS change
WHERE change <> 0
MERGE (t:Term {term: term, corpus: $corpus})
SET t.windows = coalesce(t.windows, 0) + change
WITH t
WHERE t.windows <= 0
DELETE t
