// Take the lock of a corpus. Return one row if it was begun to be imported from this archive, or has no document and was not
// adopted, else none; also none while another run imports it.
// $corpus, $archive: a hash
// → free
// include: lock
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
WITH c
WHERE c.adopts IS NULL
  AND (c.importing = $archive OR NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL })
  AND NOT EXISTS { MATCH (r:E2GRun {id: c.importer}) WHERE r.expires > timestamp() }
RETURN true AS free
