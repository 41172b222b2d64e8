// The path behind each pair of a question's entities.
// $corpus, $pairs: [{a, b}]
// → path
UNWIND $pairs AS pair
MATCH (a:Entity {corpus: $corpus, key: pair.a})
MATCH (b:Entity {corpus: $corpus, key: pair.b})
MATCH path = shortestPath((a)-[:CO_OCCURS*..6]-(b))
RETURN path
