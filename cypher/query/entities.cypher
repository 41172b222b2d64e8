// The entities of a corpus that are mentioned in most chunks: those that a part of a name finds, then those whose
// descriptions have all words of it; names before nouns; with up to 20 spellings, other names and types, the most frequent
// first.
// $corpus, $words: a part of a key, of the entity or of one of its aliases; $told: the same as words, in lower case;
//   $type: their type, or null for all; $limit
// A new column also goes into EntityInfo (types/graph.py) and the table of cli/show.py.
// → key, name, type, types: [{type, count}], forms: [{form, count}], aliases: [name], description, mentions, chunks,
//   documents
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND ($type IS NULL OR e.type = $type)
WITH e, e.key CONTAINS $words OR EXISTS { MATCH (a:Alias)-[:ALIAS_OF]->(e) WHERE a.key CONTAINS $words } AS named
WHERE named OR all(word IN $told WHERE toLower(e.description) CONTAINS word)
WITH e, named, coalesce(e.type = 'noun', false) AS noun ORDER BY named DESC, noun, e.chunks DESC, e.key LIMIT $limit
MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
WITH e, named, noun, sum(m.count) AS mentions, count(DISTINCT c.document) AS documents
RETURN
  // include: entity_columns
  , mentions, e.chunks AS chunks, documents
ORDER BY named DESC, noun, mentions DESC, key
