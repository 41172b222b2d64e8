// The corpora whose communities, clusters, vectors of entities or sentences, descriptions, statements or typed graph are
// out of date, because a run that changed the corpus was interrupted or had no chat model, or because what they are made
// from changed.
// → corpus
MATCH (c:Corpus)
WHERE c.corpus IS NOT NULL
  AND (c.communities <> coalesce(c.revision, 0) OR c.clusters <> coalesce(c.revision, 0)
    OR c.entity_vectors <> coalesce(c.revision, 0) OR c.sentence_vectors <> coalesce(c.revision, 0)
     OR c.descriptions <> coalesce(c.revision, 0) OR c.statements <> coalesce(c.revision, 0)
     OR c.typed <> coalesce(c.revision, 0))
RETURN c.corpus AS corpus ORDER BY corpus
