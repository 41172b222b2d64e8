// The entities of one type, those in most chunks first.
// $corpus
// $type: string - The type: person, place, organisation, group, product, event, work, law, language, name or noun.
// $limit: integer - How many entities at most.
// → entity, chunks
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND e.type = $type
RETURN e.name AS entity, e.chunks AS chunks
ORDER BY chunks DESC, entity LIMIT $limit
