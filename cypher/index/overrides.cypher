// List what was decided by hand about names of a corpus: which must not be merged, and which resolve to another name.
// $corpus
// → key, into. `into` is the key of the other name, or null if the name must not be merged.
MATCH (a:Alias {corpus: $corpus})
WHERE a.key IS NOT NULL AND (a.apart OR a.into IS NOT NULL)
RETURN a.key AS key, a.into AS into
