// Find the chunks that name a document whose title is new: they are to be read again, unless $most documents with ids before
// it have the same title and are known.
// $corpus, $titles: [{title_key, id: of the first document that is new, query: Lucene query for the title}], $most
UNWIND $titles AS title
WITH title WHERE COUNT {
  MATCH (d:Document {corpus: $corpus, title_key: title.title_key})
  WHERE d.state = 'ready' AND d.id < title.id
} <= $most
CALL db.index.fulltext.queryNodes('e2g_chunk_words', title.query) YIELD node
WHERE node.corpus = $corpus
WITH DISTINCT node
SET node:UnlinkedChunk
