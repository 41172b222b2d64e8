// Add the hash of its files to the recorded name of the spaCy pipeline, if an earlier version recorded it without.
// $unhashed: the name without the hash, $pipeline: the name with it
MATCH (index:E2GIndex {name: 'e2g', spacy_model: $unhashed})
SET index.spacy_model = $pipeline
