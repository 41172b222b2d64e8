// The entities of one type, those that are mentioned most often first.
// $corpus
// $type: string - The type: person, place, organisation, group, product, event, work, law, language, name or noun.
// $limit: integer - How many entities at most.
// → entity, mentions, documents
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND e.type = $type
MATCH (e)-[m:FROM_CHUNK]->(c:Chunk {corpus: $corpus})
WITH e, sum(m.count) AS mentions, count(DISTINCT c.document) AS documents
RETURN e.name AS entity, mentions, documents
ORDER BY mentions DESC, entity LIMIT $limit
