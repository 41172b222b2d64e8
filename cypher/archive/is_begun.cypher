// Whether a corpus is being imported from an archive.
// $corpus, $archive: a hash
// → begun
MATCH (c:Corpus {corpus: $corpus})
WHERE c.importing = $archive
RETURN true AS begun
