// Take the lock of a corpus. Return one row if it has no document, is not being imported and was not adopted, else
// none.
// $corpus
// → free
// include: lock
WHERE NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL }
  AND NOT EXISTS { MATCH (:E2GImport {corpus: $corpus}) }
  AND NOT EXISTS { MATCH (c:Corpus {corpus: $corpus}) WHERE c.adopts IS NOT NULL }
RETURN true AS free
