// How many entities of one type are mentioned. No row: none.
// $corpus
// $type: string - The type: person, place, organisation, group, product, event, work, law, language, name or noun.
// → type, entities
MATCH (e:Entity {corpus: $corpus})
WHERE e.key IS NOT NULL AND e.chunks > 0 AND e.type = $type
RETURN e.type AS type, count(e) AS entities
