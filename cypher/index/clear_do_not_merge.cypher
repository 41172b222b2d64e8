// Undo `set_do_not_merge`: allow merges of a name again.
// $corpus, $key
MATCH (a:Alias {corpus: $corpus, key: $key})
REMOVE a.apart
WITH a
WHERE NOT EXISTS { (a)-[:ALIAS_OF]->() }
DELETE a
