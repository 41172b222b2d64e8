// Set the schema of a corpus. A typed graph that was made with another is then out of date.
// $corpus, $graph_schema: null for none
MATCH (corpus:Corpus {corpus: $corpus})
WHERE coalesce(corpus.graph_schema, '') <> coalesce($graph_schema, '')
SET corpus.typed = corpus.typed - 1, corpus.graph_schema = $graph_schema
