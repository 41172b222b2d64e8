// What lies between two entities: the shortest path from one to the other, and for each step of it the chunks that
// mention both of its ends most often, at most three a step.
// $corpus, $a, $b: names, as they are written or in small letters, $hops: the longest path wanted, at most 6 edges
// → path, carrier
CALL () {
  MATCH (a:Entity {corpus: $corpus})
  WHERE a.key = toLower($a) OR $a IN a.forms
  RETURN a ORDER BY a.chunks DESC, a.key LIMIT 1
}
CALL () {
  MATCH (b:Entity {corpus: $corpus})
  WHERE b.key = toLower($b) OR $b IN b.forms
  RETURN b ORDER BY b.chunks DESC, b.key LIMIT 1
}
MATCH path = shortestPath((a)-[:CO_OCCURS*..6]-(b))
WITH path, relationships(path) AS steps
WHERE size(steps) <= $hops
UNWIND steps AS step
WITH path, startNode(step) AS x, endNode(step) AS y
CALL (x, y) {
  MATCH carrier = (x)-[m:FROM_CHUNK]->(c:Chunk)<-[n:FROM_CHUNK]-(y)
  RETURN carrier ORDER BY CASE WHEN m.count < n.count THEN m.count ELSE n.count END DESC, c.index LIMIT 3
}
RETURN path, carrier
