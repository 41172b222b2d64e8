// Take the lock of a corpus. Return one row if it has soft-deleted nodes, or visible chunks whose edges are not
// counted, else none.
// $corpus
// → unclean
// include: lock
WHERE EXISTS { MATCH (:E2GRetired {corpus: $corpus}) }
   OR EXISTS { MATCH (c:UncountedChunk) WHERE c.corpus = $corpus AND c:Chunk }
RETURN true AS unclean
