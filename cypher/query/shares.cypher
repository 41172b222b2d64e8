// What chunks and summaries have, for `coverage` and `occurrence`: how many entities they mention, and how many of these
// the question names; how many words they have, and how often these mention one that the question names. A summary has
// what all chunks below it have. A word is a run of characters between white space. A text with less than one in twenty
// characters is of a script without spaces: there, a word is a character.
// $corpus, $ids, $names
// → id, entities, matched, words, mentions
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Chunk {corpus: $corpus, id: id})
  RETURN n
  UNION ALL
  MATCH (n:Summary {corpus: $corpus, id: id})
  RETURN n
}
CALL (n) {
  MATCH (n)<-[:CHILD_OF*0..]-(c:Chunk)
  WITH c, coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
    // include: their_text
  ][0], '') AS text
  WITH c, size(text) AS characters, size([word IN split(text, [' ', '\n', '\t', '\r']) WHERE word <> '']) AS runs
  RETURN collect(c) AS chunks, sum(CASE WHEN 20 * runs < characters THEN characters ELSE runs END) AS words
}
CALL (chunks) {
  UNWIND chunks AS c
  MATCH (c)<-[m:FROM_CHUNK]-(e:Entity)
  WITH e.key IN $names AS named, e, sum(m.count) AS count
  RETURN count(e) AS entities, count(CASE WHEN named THEN 1 END) AS matched,
         sum(CASE WHEN named THEN count ELSE 0 END) AS mentions
}
RETURN id, entities, matched, words, mentions
