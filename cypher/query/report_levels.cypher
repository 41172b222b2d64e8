// The length of the reports of communities, by their level and that of the community above.
// $corpus
// → level, above, characters. above: null at the top
MATCH (m:Community {corpus: $corpus})
WHERE m.id IS NOT NULL
OPTIONAL MATCH (m)-[:PARENT]->(p:Community)
RETURN m.level AS level, p.level AS above, sum(size(m.title) + size(m.text)) AS characters
