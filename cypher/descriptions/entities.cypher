// At most $limit entities that may have a description, or that have one, in the order of their keys, with all their
// spellings and other names. Common nouns have none.
// $corpus, $after: a key, $limit
// → key, name, noun, names: [text], description, chunk
MATCH (e:Entity {corpus: $corpus})
WHERE e.key > $after AND (e.chunks > 0 AND coalesce(e.type, '') <> 'noun' OR e.description IS NOT NULL)
WITH e ORDER BY e.key LIMIT $limit
RETURN e.key AS key, e.name AS name, coalesce(e.type, '') = 'noun' AS noun,
       coalesce(e.forms, [e.key]) + COLLECT { MATCH (:Alias)-[r:ALIAS_OF]->(e) WHERE r.form IS NOT NULL RETURN DISTINCT r.form } AS names,
       e.description AS description, e.description_chunk AS chunk
ORDER BY key
