// The documents of a corpus, by title.
// $corpus
// :params {corpus: "sample"}
// → title, state, chunks, summaries, levels, characters, source
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
WITH d ORDER BY d.title, d.source LIMIT 200
CALL (d) {
  MATCH (s:Summary {corpus: $corpus, document: d.id})
  RETURN count(s) AS summaries, coalesce(max(s.level), 0) AS levels
}
RETURN d.title AS title, d.state AS state, d.chunks AS chunks, summaries, levels, d.characters AS characters,
       d.source AS source
ORDER BY title, source
