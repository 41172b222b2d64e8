// The $limit best chunks of the full-text index (BM25) for some words, or of $documents if not null: then all matches
// are read, best first, until $limit are of these documents.
// $corpus, $documents, $words: a Lucene query that contains the corpus too,
// $limit
// → id, score
// include: matching_chunks, $limit for $many
RETURN c.id AS id, score
