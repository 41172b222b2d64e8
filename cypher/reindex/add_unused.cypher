// Note vectors of a corpus that no question uses, so that they are removed if nothing needs them in the end.
// $corpus, $added: the suffix of the vectors
MATCH (own:E2GIndex {name: 'e2g/' + $corpus})
WHERE NOT $added IN coalesce(own.unused, [])
SET own.unused = coalesce(own.unused, []) + $added
