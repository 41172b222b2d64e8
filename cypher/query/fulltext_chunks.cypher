// The $limit best chunks of the full-text index (BM25) for some words.
// $corpus, $words: a Lucene query that contains the corpus too, $limit
// → id, score
CALL db.index.fulltext.queryNodes('e2g_chunk_words', $words, {limit: $limit}) YIELD node AS c, score
WHERE c.corpus = $corpus AND score > 0
RETURN c.id AS id, score
