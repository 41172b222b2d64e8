// Read the nodes of a corpus that queries see, its documents, and its split names. Counts of words are left out: they are
// counted again. So is the typed graph.
// $corpus
// → key, labels, properties
MATCH (n:Document|Chunk|Window|Summary|Entity|Alias|Corpus|Community|Cluster|Statement)
WHERE n.corpus = $corpus AND (NOT n:Entity OR n.chunks > 0)
RETURN elementId(n) AS key, [label IN labels(n) WHERE label <> coalesce(n.typed_label, '')] AS labels,
       n {.*, corpus: null, run: null, typed_label: null, typed: null, typed_labels: null,
          typed_types: null, typed_patterns: null, graph_schema: null} AS properties
