// The hubs of a corpus: the names that are mentioned in most chunks, with their types, aliases and descriptions. Nouns,
// such as "time", are mentioned more often than any name; to see them too, remove the second condition. For an entity
// without a type, as an archive may have them, its spelling decides.
// $corpus
// :params {corpus: "sample"}
// → entity, type, chunks, documents, neighbours, also_written, description
MATCH (e:Entity {corpus: $corpus})
WHERE e.chunks > 0
  AND coalesce(e.type <> 'noun', e.name <> toLower(e.name))
WITH e ORDER BY e.chunks DESC, e.key LIMIT 25
RETURN e.name AS entity, coalesce(e.type, '') AS type, e.chunks AS chunks,
       COUNT { MATCH (e)-[:FROM_CHUNK]->(c:Chunk) RETURN DISTINCT c.document } AS documents,
       COUNT { (e)-[:CO_OCCURS]-() } AS neighbours,
       COLLECT { MATCH (a:Alias)-[:ALIAS_OF]->(e) RETURN DISTINCT a.name ORDER BY a.name LIMIT 10 } AS also_written,
       coalesce(e.description, '') AS description
ORDER BY chunks DESC, entity
