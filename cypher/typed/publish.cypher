// Note what the typed graph of a corpus was made from, and its names.
// $corpus, $revision: null if it is removed, $labels: [name], $types: [name], $patterns: [pattern], $graph_schema: null for
//   none
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.typed = $revision, corpus.graph_schema = $graph_schema,
    corpus.typed_labels = CASE WHEN $revision IS NOT NULL THEN $labels END,
    corpus.typed_types = CASE WHEN $revision IS NOT NULL THEN $types END,
    corpus.typed_patterns = CASE WHEN $revision IS NOT NULL THEN $patterns END
