// How much the reports of communities are, by their level and that of the community above.
// $corpus
// → level, above: null at the top, reports, characters
MATCH (m:Community {corpus: $corpus})
WHERE m.id IS NOT NULL
OPTIONAL MATCH (m)-[:PARENT]->(p:Community)
RETURN m.level AS level, p.level AS above, count(m) AS reports, sum(size(m.title) + size(m.text)) AS characters
