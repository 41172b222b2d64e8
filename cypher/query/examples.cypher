// Examples for the guide of Neo4j Browser: the most frequent name; the longest document with its middle chunk; two of
// its frequent names that share no sentence, but are connected by a third, or two that share one, full names first; and
// the document that has most of its frequent names too; and the document that most chunks refer to. Names come before
// nouns. What a corpus does not have is null.
// $corpus
// → title, index, name, a, b, second, referred
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL AND d.chunks > 0
WITH d ORDER BY d.chunks DESC, d.title, d.source LIMIT 1
CALL (d) {
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(e:Entity)
  WITH e, count(*) AS chunks
  ORDER BY coalesce(e.type = 'noun', e.name = toLower(e.name)), chunks DESC, e.key LIMIT 25
  RETURN collect(e) AS names
}
CALL (names) {
  UNWIND range(1, size(names) - 1) AS j
  UNWIND range(0, j - 1) AS i
  WITH names, names[i] AS a, names[j] AS b, i, j
  WITH names, a, b, i, j, EXISTS { (a)-[:CO_OCCURS]-(b) } AS direct
  WHERE direct OR EXISTS {
    (a)-[:CO_OCCURS]-(n:Entity)-[:CO_OCCURS]-(b)
    WHERE n IN names AND coalesce(n.type <> 'noun', n.name <> toLower(n.name))
  }
  WITH a, b ORDER BY direct, a.name CONTAINS ' ' AND b.name CONTAINS ' ' DESC, j, i LIMIT 1
  RETURN collect([a.name, b.name])[0] AS pair
}
CALL (d, names) {
  UNWIND names AS e
  MATCH (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(other:Document)
  WHERE other <> d
  WITH other, count(DISTINCT e) AS shared ORDER BY shared DESC, other.title, other.source LIMIT 1
  RETURN collect(other.title)[0] AS second
}
CALL () {
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.chunks > 0
  WITH e ORDER BY coalesce(e.type = 'noun', e.name = toLower(e.name)), e.chunks DESC, e.key LIMIT 1
  RETURN collect(e.name)[0] AS name
}
CALL () {
  MATCH (:Chunk)-[:REFERS_TO]->(other:Document {corpus: $corpus})
  WHERE other.id IS NOT NULL
  WITH other, count(*) AS chunks ORDER BY chunks DESC, other.title, other.source LIMIT 1
  RETURN collect(other.title)[0] AS referred
}
RETURN d.title AS title, d.chunks / 2 AS index, name, pair[0] AS a, pair[1] AS b, second, referred
