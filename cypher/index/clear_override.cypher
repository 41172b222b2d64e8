// Undo `set_override`: the rules decide about a name again.
// $corpus, $key
MATCH (a:Alias {corpus: $corpus, key: $key})
REMOVE a.apart, a.into, a.documents, a.senses
WITH a
WHERE NOT EXISTS { (a)-[:ALIAS_OF]->() }
DELETE a
