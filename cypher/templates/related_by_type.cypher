// The entities that an entity has a typed relationship with, with the statements that say so, those of most statements first.
// $corpus
// $entity: entity - The entity.
// $type: string - The relationship type, such as MARRIED_TO or "married to".
// $limit: integer - How many at most.
// → subject, relationship, object, valid_from, valid_to, statements, texts
MATCH (e:Entity {corpus: $corpus, key: $entity})-[r]-(:Entity {corpus: $corpus})
WHERE r.statements IS NOT NULL AND toUpper(type(r)) = toUpper(replace(trim($type), ' ', '_'))
RETURN startNode(r).name AS subject, type(r) AS relationship, endNode(r).name AS object, r.valid_from AS valid_from,
       r.valid_to AS valid_to, r.count AS statements, COLLECT {
         MATCH (s:Statement {corpus: $corpus})
         WHERE s.id IN r.statements[..10]
         RETURN s.text ORDER BY s.id
       } AS texts
ORDER BY statements DESC, subject, object LIMIT $limit
