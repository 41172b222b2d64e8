// Take the lock of a corpus. Return one row if it is to be imported from this archive already, or has no document and was
// not adopted, else none.
// $corpus, $archive: a hash
// → free
// include: lock
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
WITH c
WHERE c.adopts IS NULL
  AND (c.importing = $archive OR NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL })
RETURN true AS free
