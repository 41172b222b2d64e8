// The names that resolve to other entities, by document.
// $corpus
// → document, name, entity
MATCH (a:Alias {corpus: $corpus})-[r:ALIAS_OF]->(e:Entity)
WHERE a.key IS NOT NULL
RETURN r.document AS document, a.key AS name, e.key AS entity
ORDER BY document, name, entity
