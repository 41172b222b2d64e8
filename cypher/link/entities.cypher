// List the entities of a corpus with their spellings and aliases.
// $corpus, $type: their type, or null for all
// → key, name, forms: [form], aliases: [key]
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND ($type IS NULL OR e.type = $type)
RETURN e.key AS key, e.name AS name, e.forms AS forms,
       COLLECT { MATCH (a:Alias)-[:ALIAS_OF]->(e) RETURN DISTINCT a.key ORDER BY a.key } AS aliases
ORDER BY key
