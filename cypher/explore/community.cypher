// From a report down to its text: the finest community of a name with its entities and their edges, the communities
// above it, and the chunks that its report quotes.
// $corpus, $name
// :params {corpus: "sample", name: "Luke Farran"}
// → path
MATCH (e:Entity {corpus: $corpus, name: $name})-[:IN_COMMUNITY]->(c:Community)
WITH c ORDER BY c.level, c.id LIMIT 1
CALL (c) {
  MATCH path = (c)-[:PARENT*0..]->(:Community)
  RETURN path
  UNION ALL
  MATCH path = (c)-[:QUOTES]->(:Chunk)
  RETURN path
  UNION ALL
  MATCH path = (c)<-[:IN_COMMUNITY]-(:Entity)
  RETURN path
  UNION ALL
  MATCH (c)<-[:IN_COMMUNITY]-(a:Entity)
  MATCH path = (a)-[:CO_OCCURS]->(b:Entity)-[:IN_COMMUNITY]->(c)
  RETURN path
}
RETURN path
