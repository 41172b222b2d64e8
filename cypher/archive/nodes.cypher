// Read the nodes of a corpus that queries see, its documents, and its split names. Counts of words are left out: they are
// counted again.
// $corpus
// → key, labels, properties
MATCH (n:Document|Chunk|Window|Summary|Entity|Alias|Corpus|Community|Cluster|Statement)
WHERE n.corpus = $corpus AND (NOT n:Entity OR n.chunks > 0)
RETURN elementId(n) AS key, labels(n) AS labels, n {.*, corpus: null, run: null} AS properties
