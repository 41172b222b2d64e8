// The best windows of the full-text index (BM25) for some words, or of $documents if not null: then all matches are read,
// best first, until $many are of these documents.
// $corpus, $documents, $words: a Lucene query, $many
// → w, score
WITH CASE WHEN $documents IS NULL THEN {limit: $many} ELSE {skip: 0} END AS options
CALL db.index.fulltext.queryNodes('e2g_window_words', $words, options) YIELD node AS w, score
WHERE w.corpus = $corpus AND ($documents IS NULL OR w.document IN $documents) AND score > 0
WITH w, score LIMIT $many
