// Reserve a corpus for an import. Nothing else can write to it until the import ends.
// $corpus, $run
CREATE (:E2GImport {corpus: $corpus, run: $run, published: false})
