// The entities of one type that occur in one sentence with an entity, those that occur most often with it first.
// $corpus
// $entity: entity - The entity.
// $type: string - The type, person, place, organisation, group, product, event, work, law, language, name or noun.
// $limit: integer - How many at most.
// → neighbour, sentences
MATCH (:Entity {corpus: $corpus, key: $entity})-[r:CO_OCCURS]-(n:Entity {corpus: $corpus})
WHERE n.chunks > 0 AND n.type = $type
RETURN n.name AS neighbour, r.count AS sentences
ORDER BY sentences DESC, neighbour LIMIT $limit
