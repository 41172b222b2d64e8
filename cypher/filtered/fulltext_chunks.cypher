// Like `query/fulltext_chunks`, within the documents of a filter: all matches are read, best first, until
// enough are of these documents.
// $corpus, $documents, $words: a Lucene query that contains the corpus too, $limit
// → id, score
CALL db.index.fulltext.queryNodes('e2g_chunk_words', $words) YIELD node AS c, score
WHERE c.corpus = $corpus AND c.document IN $documents AND score > 0
WITH c, score LIMIT $limit
RETURN c.id AS id, score
