// The reports of a level: of its communities, and of finer ones that no community of the level contains.
// $corpus, $level, $limit
// → id, level, title, text, rating, entities. rating: null if the report is extractive; entities: how many
MATCH (m:Community {corpus: $corpus})
WHERE m.id IS NOT NULL AND m.level <= $level
  AND NOT EXISTS { MATCH (m)-[:PARENT]->(p:Community) WHERE p.level <= $level }
RETURN m.id AS id, m.level AS level, m.title AS title, m.text AS text, m.rating AS rating, m.entities AS entities
ORDER BY coalesce(rating, 0) DESC, entities DESC, id
LIMIT $limit
