// Note that a corpus is imported from an archive, and by which run: after this has ended, whoever imports this archive
// again continues.
// $corpus, $archive: a hash, $run
MERGE (c:Corpus {corpus: $corpus})
SET c.importing = $archive, c.importer = $run
