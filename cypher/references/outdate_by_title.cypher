// Find the chunks that name a document whose title is new: they are to be read again.
// $titles: [Lucene query for a title in the corpus], $corpus
UNWIND $titles AS title
CALL db.index.fulltext.queryNodes('e2g_chunk_words', title) YIELD node
WHERE node.corpus = $corpus
WITH DISTINCT node
SET node:UnlinkedChunk
