// The windows of a corpus, and of all corpora of the full-text index, and those that contain terms.
// $corpus, $terms
// → words: {windows, index_windows, terms}
CALL () {
  MATCH (c:Corpus)
  WHERE c.corpus IS NOT NULL AND c.adopts IS NULL
  WITH sum(CASE c.corpus WHEN $corpus THEN c.windows ELSE 0 END) AS windows, sum(c.windows) AS index_windows
  CALL () {
    UNWIND $terms AS term
    MATCH (t:Term {term: term})
    WHERE t.corpus IS NOT NULL
    WITH term, sum(CASE t.corpus WHEN $corpus THEN t.windows ELSE 0 END) AS here, sum(t.windows) AS everywhere
    WHERE here > 0
    RETURN collect({term: term, windows: here, index_windows: everywhere}) AS terms
  }
  RETURN {windows: windows, index_windows: index_windows, terms: terms} AS words
}
