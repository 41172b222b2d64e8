// Take the lock of a corpus. Return one row if it is adopted or not as expected, else none.
// $corpus, $adopted: whether it should be
// → open
// include: lock
WHERE EXISTS { MATCH (c:Corpus {corpus: $corpus}) WHERE c.adopts IS NOT NULL } = $adopted
RETURN true AS open
