// The entities of a corpus that are mentioned in most chunks, names before nouns, with up to 20 spellings, other names
// and types, the most frequent first.
// $corpus, $words: a part of a key, of the entity or of one of its aliases; $type: their type, or null for all; $limit
// A new column also goes into EntityInfo (types/graph.py) and the table of cli/show.py.
// → key, name, type, types: [{type, count}], forms: [{form, count}], aliases: [name], mentions, chunks, documents
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND ($type IS NULL OR e.type = $type)
  AND (e.key CONTAINS $words OR EXISTS { MATCH (a:Alias)-[:ALIAS_OF]->(e) WHERE a.key CONTAINS $words })
WITH e, coalesce(e.type = 'noun', false) AS noun ORDER BY noun, e.chunks DESC, e.key LIMIT $limit
MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
WITH e, noun, sum(m.count) AS mentions, count(DISTINCT c.document) AS documents
RETURN e.key AS key, e.name AS name, e.type AS type,
       [i IN range(0, size(coalesce(e.types, [])[..20]) - 1) | {type: e.types[i], count: e.type_counts[i]}] AS types,
       [i IN range(0, size(coalesce(e.forms, [])[..20]) - 1) | {form: e.forms[i], count: e.form_counts[i]}] AS forms,
       COLLECT { MATCH (a:Alias)-[:ALIAS_OF]->(e) RETURN DISTINCT a.name ORDER BY a.name LIMIT 20 } AS aliases,
       mentions, e.chunks AS chunks, documents
ORDER BY noun, mentions DESC, key
