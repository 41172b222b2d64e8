// The best chunks of the full-text index (BM25) for some words, as in `fragments/matching_windows`.
// $corpus, $documents, $words: a Lucene query, $many
// → c, score
WITH CASE WHEN $documents IS NULL THEN {limit: $many} ELSE {skip: 0} END AS options
CALL db.index.fulltext.queryNodes('e2g_chunk_words', $words, options) YIELD node AS c, score
WHERE c.corpus = $corpus AND ($documents IS NULL OR c.document IN $documents) AND score > 0
WITH c, score LIMIT $many
