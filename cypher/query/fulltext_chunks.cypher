// The $limit best chunks of the full-text index (BM25) for some words, or of $documents if not null: then all matches
// are read, best first, until $limit are of these documents.
// $corpus, $documents, $words: a Lucene query that contains the corpus too, $limit
// → id, score
WITH CASE WHEN $documents IS NULL THEN {limit: $limit} ELSE {skip: 0} END AS options
CALL db.index.fulltext.queryNodes('e2g_chunk_words', $words, options) YIELD node AS c, score
WHERE c.corpus = $corpus AND ($documents IS NULL OR c.document IN $documents) AND score > 0
RETURN c.id AS id, score LIMIT $limit
