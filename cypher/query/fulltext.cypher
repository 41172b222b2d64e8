// The $limit best windows of the full-text index (BM25) for some words, or of $documents if not null: then all matches
// are read, best first, until $limit are of these documents.
// $corpus, $documents, $words: a Lucene query that contains the corpus too,
// $limit
// → chunk, document, index, tokens, shares, persistence, scores: [[window number, score]]. A row for each chunk with
//   such a window, with the share of its text that each of its windows has.
// include: matching_windows, $limit for $many
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH c, collect([w.index, score]) AS scores
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, scores
