// Note that a corpus is imported from an archive: whoever imports this archive again continues.
// $corpus, $archive: a hash
MERGE (c:Corpus {corpus: $corpus})
SET c.importing = $archive
