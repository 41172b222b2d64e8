// Write nodes of an archive. Documents are staged, so that no query finds the corpus.
// $corpus, $fulltext: whether its language has full-text indexes of its own, $rows: [{key, labels, properties,
//   divided: the text for these indexes, if it is another; embedding, embedded_name, sentence_vectors}]
UNWIND $rows AS row
CREATE (n:E2GImported)
SET n:$(row.labels)
SET n = row.properties
SET n.corpus = $corpus, n.import_key = row.key,
    n.embedded_name = row.embedded_name, n.sentence_vectors = row.sentence_vectors,
    n.fulltext = CASE WHEN $fulltext AND (n:Chunk OR n:Window) THEN coalesce(row.divided, n.text) END,
    n.fulltext_corpus = CASE WHEN $fulltext AND (n:Chunk OR n:Window) THEN n.corpus_key END
WITH n, row
WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
