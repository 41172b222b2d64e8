// The shortest path between two entities through names, or through any words if none of at most $hops edges is, and for
// each of its steps the chunks that mention both ends most often, at most three per step.
// $corpus, $a, $b: names, as written or in lower case, $hops: maximum length of the path, at most 6 edges
// :params {corpus: "sample", a: "Luke Farran", b: "Theodora Quill", hops: 3}
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
MATCH shortest = shortestPath((a)-[:CO_OCCURS*..6]-(b))
OPTIONAL MATCH named = shortestPath((a)-[:CO_OCCURS*..6]-(b))
WHERE all(n IN nodes(named) WHERE n IN [a, b] OR coalesce(n.type <> 'noun', n.name <> toLower(n.name)))
WITH CASE WHEN length(named) <= $hops THEN named ELSE shortest END AS path
WITH path, relationships(path) AS steps
WHERE size(steps) <= $hops
UNWIND steps AS step
WITH path, startNode(step) AS x, endNode(step) AS y
CALL (x, y) {
  MATCH carrier = (x)-[m:FROM_CHUNK]->(c:Chunk)<-[n:FROM_CHUNK]-(y)
  RETURN carrier ORDER BY CASE WHEN m.count < n.count THEN m.count ELSE n.count END DESC, c.index LIMIT 3
}
RETURN path, carrier
