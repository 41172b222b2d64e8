// Take the lock of a corpus. Return one row if none of its documents has changed, else none.
// $corpus, $revision
// → held
// include: lock
MATCH (c:Corpus {corpus: $corpus})
WHERE c.revision = $revision
RETURN true AS held
