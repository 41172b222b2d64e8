// What has to be done before every chunk of a corpus refers to the documents that its text names: `documents` are at most
// $limit documents whose title is not compared with the texts yet, `outdated` is whether a chunk has to be read again,
// `others` whether the titles of other documents were compared before. Adopted corpora have no such references.
// $corpus, $limit
// → revision, documents: [{id, title, source}], outdated, others
MATCH (corpus:Corpus {corpus: $corpus})
WHERE corpus.adopts IS NULL
RETURN corpus.revision AS revision,
       COLLECT {
         MATCH (d:Document {corpus: $corpus, state: 'ready'})
         WHERE d.id IS NOT NULL AND d.title_key IS NULL
         RETURN d {.id, .title, .source} ORDER BY d.id LIMIT $limit
       } AS documents,
       EXISTS { MATCH (c:UnlinkedChunk) WHERE c.corpus = $corpus AND c:Chunk } AS outdated,
       EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.title_key >= '' AND d.state = 'ready' } AS others
