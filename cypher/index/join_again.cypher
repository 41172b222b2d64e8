// Forget that a name was to be kept apart.
// $corpus, $key
MATCH (a:Alias {corpus: $corpus, key: $key})
REMOVE a.apart
WITH a
WHERE NOT EXISTS { (a)-[:ALIAS_OF]->() }
DELETE a
