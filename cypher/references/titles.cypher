// The documents whose titles begin with one of these words: at most $most of each title.
// $corpus, $words: [word], $most
// → title_key, documents: [id]
UNWIND $words AS word
CALL (word) {
  CALL (word) {
    MATCH (d:Document {corpus: $corpus, title_key: word})
    RETURN d
    UNION ALL
    MATCH (d:Document {corpus: $corpus})
    WHERE d.title_key STARTS WITH (word + ' ')
    RETURN d
  }
  WITH d ORDER BY d.title_key, d.id
  WHERE d.state = 'ready'
  RETURN d.title_key AS title_key, collect(d.id)[..$most] AS documents
}
RETURN title_key, documents
