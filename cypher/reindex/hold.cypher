// Take the lock of a corpus. Return one row if it has these vectors complete, and neither the corpus nor its models have
// changed, nor is a run indexing documents of it, else none.
// $corpus, $revision, $before: the suffix of its vectors
// → held
// include: lock
// include: made_with
OPTIONAL MATCH (corpus:Corpus {corpus: $corpus})
WITH made, corpus
WHERE coalesce(made.vectors, '') = $before AND coalesce(corpus.revision, 0) = $revision
  AND NOT EXISTS {
    MATCH (d:Document {corpus: $corpus})
    WHERE d.id IS NOT NULL AND d.run IS NOT NULL
      AND EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() }
  }
  AND NOT EXISTS { MATCH (w:Window {corpus: $corpus}) WHERE w.id IS NOT NULL AND w.embedding IS NULL }
  AND NOT EXISTS {
    MATCH (c:Chunk {corpus: $corpus})
    WHERE c.id IS NOT NULL
      AND (c.text IS NOT NULL AND c.embedding IS NULL
        OR corpus.sentence_vectors IS NOT NULL AND c.sentence_vectors IS NULL)
  }
  AND NOT EXISTS {
    MATCH (s:Summary {corpus: $corpus})
    WHERE s.id IS NOT NULL AND (s.embedding IS NULL OR s.notes IS NOT NULL AND s.notes_of IS NULL)
  }
  AND NOT EXISTS {
    MATCH (e:Entity {corpus: $corpus})
    WHERE e.key IS NOT NULL AND corpus.entity_vectors IS NOT NULL AND e.chunks > 0
      AND e.name <> coalesce(e.embedded_name, '')
  }
  AND NOT EXISTS { MATCH (c:Community {corpus: $corpus}) WHERE c.id IS NOT NULL AND c.embedding IS NULL }
  AND NOT EXISTS { MATCH (c:Cluster {corpus: $corpus}) WHERE c.id IS NOT NULL AND c.embedding IS NULL }
  AND NOT EXISTS { MATCH (s:Statement {corpus: $corpus}) WHERE s.id IS NOT NULL AND s.embedding IS NULL }
RETURN true AS held
