// Take the lock of a corpus. Return one row if it is free, or was adopted with these options, else none.
// $corpus, $adopts
// → free
// include: lock
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
WITH c
WHERE c.adopts = $adopts
   OR c.adopts IS NULL AND NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL }
RETURN true AS free
