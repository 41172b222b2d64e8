// How often chunks and summaries mention any entity. A summary counts the mentions of all chunks below it.
// $corpus, $ids
// → id, mentions
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Chunk {corpus: $corpus, id: id})
  RETURN n
  UNION ALL
  MATCH (n:Summary {corpus: $corpus, id: id})
  RETURN n
}
CALL (n) {
  MATCH (n)<-[:CHILD_OF*0..]-(c:Chunk)<-[m:FROM_CHUNK]-(:Entity)
  RETURN sum(m.count) AS mentions
}
RETURN id, mentions
