// Note that the import of a corpus is complete.
// $corpus
MATCH (c:Corpus {corpus: $corpus})
REMOVE c.importing, c.importer
