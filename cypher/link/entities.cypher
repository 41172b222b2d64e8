// The entities of a corpus, how they are written, and the names that stand for them.
// $corpus
// → key, name, forms: [form], aliases: [key]
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0
RETURN e.key AS key, e.name AS name, e.forms AS forms,
       COLLECT { MATCH (a:Alias)-[:ALIAS_OF]->(e) RETURN DISTINCT a.key ORDER BY a.key } AS aliases
ORDER BY key
