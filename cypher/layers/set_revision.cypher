// Note that a layer of a corpus is up to date.
// $corpus, $layer: the property with the revision of the layer, $revision
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus[$layer] = $revision
