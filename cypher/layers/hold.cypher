// Take the lock of a corpus. Return one row if neither the corpus nor a layer of it has changed, it has the vectors of the
// same model, and the nodes that a run has staged are still there, else none.
// $corpus, $revision, $layer: the property with the revision of the layer, $made_from: its value, or null, $run,
//   $staged: the number of its nodes, $stored: the ids of the statements that queries saw, or null if they are not
//   compared
// → held
// include: lock
// include: moved
MATCH (c:Corpus {corpus: $corpus})
WHERE NOT moved AND coalesce(c.revision, 0) = $revision
  AND coalesce(c[$layer], -1) = coalesce($made_from, -1)
  AND COUNT { MATCH (s:StagedCommunity {corpus: $corpus, run: $run}) WHERE s.id IS NOT NULL }
    + COUNT { MATCH (s:StagedCluster {corpus: $corpus, run: $run}) WHERE s.id IS NOT NULL }
    + COUNT { MATCH (s:StagedStatement {corpus: $corpus, run: $run}) WHERE s.id IS NOT NULL } = $staged
  AND ($stored IS NULL
       OR COUNT { MATCH (s:Statement {corpus: $corpus}) WHERE s.id IN coalesce($stored, []) } = size($stored)
          AND COUNT { MATCH (s:Statement {corpus: $corpus}) WHERE s.id IS NOT NULL } = size($stored))
RETURN true AS held
