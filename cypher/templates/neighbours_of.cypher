// The entities that occur in one sentence with an entity, those that occur most often with it first.
// $corpus
// $entity: entity - The entity.
// $limit: integer - How many neighbours at most.
// → neighbour, type, sentences
MATCH (:Entity {corpus: $corpus, key: $entity})-[r:CO_OCCURS]-(n:Entity {corpus: $corpus})
WHERE n.chunks > 0
RETURN n.name AS neighbour, n.type AS type, r.count AS sentences
ORDER BY sentences DESC, neighbour LIMIT $limit
