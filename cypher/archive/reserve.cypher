// Reserve a corpus for an import: until it is over, nobody else writes it.
// $corpus, $run
CREATE (:E2GImport {corpus: $corpus, run: $run, published: false})
