// Whether a corpus has documents, how it was adopted (if it was), whether its communities, its clusters, the vectors of
// its entities, those of its sentences and its statements are up to date (null without any), and what it was made with.
// `words` counts the windows of the corpus, and of all corpora of the full-text index, and those that contain the terms
// of the question. `unread` is null if all text was read.
// $corpus, $terms
// → found, adopts, communities, clusters, entity_vectors, sentence_vectors, statements, unread: [text],
//   made_with: {embedding_model, dimensions, pooling, spacy_model, vectors},
//   words: {windows, index_windows, terms: [{term, windows, index_windows}]}
// include: made_with
// include: corpus_words
RETURN EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.adopts }[0] AS adopts,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.communities = coalesce(c.revision, 0) }[0] AS communities,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.clusters = coalesce(c.revision, 0) }[0] AS clusters,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.entity_vectors = coalesce(c.revision, 0) }[0] AS entity_vectors,
       COLLECT { MATCH (corpus:Corpus {corpus: $corpus}) RETURN corpus.sentence_vectors = coalesce(corpus.revision, 0) }[0]
         AS sentence_vectors,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.statements = coalesce(c.revision, 0) }[0] AS statements,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.unread }[0] AS unread,
       made {.embedding_model, .dimensions, .pooling, .spacy_model, .vectors} AS made_with, words
