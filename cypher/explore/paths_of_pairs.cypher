// The path behind each pair of a question's entities.
// $corpus, $pairs: [{a, b}]
// → path
UNWIND $pairs AS pair
MATCH (a:Entity {corpus: $corpus, name: pair.a})
MATCH (b:Entity {corpus: $corpus, name: pair.b})
MATCH path = shortestPath((a)-[:CO_OCCURS*..6]-(b))
RETURN path
