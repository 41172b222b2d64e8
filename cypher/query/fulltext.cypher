// The $limit best windows of the full-text index (BM25) for some words, or of $documents if not null: then all matches
// are read, best first, until $limit are of these documents.
// $corpus, $documents, $words: a Lucene query that contains the corpus too, $limit
// → chunk, document, index, tokens, shares, persistence, scores: [[window number, score]]. A row for each chunk with
//   such a window, with the share of its text that each of its windows has.
WITH CASE WHEN $documents IS NULL THEN {limit: $limit} ELSE {skip: 0} END AS options
CALL db.index.fulltext.queryNodes('e2g_window_words', $words, options) YIELD node AS w, score
WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents) AND score > 0
WITH w, score LIMIT $limit
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH c, collect([w.index, score]) AS scores
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, scores
