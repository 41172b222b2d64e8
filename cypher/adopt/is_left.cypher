// Take the lock of a corpus. Return one row if it has no documents any more, else none.
// $corpus
// → left
// include: lock
WHERE NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL }
RETURN true AS left
