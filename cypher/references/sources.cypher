// The documents of sources.
// $corpus, $sources: [source]
// → source, document
UNWIND $sources AS source
MATCH (d:Document {corpus: $corpus, source: source})
WHERE d.state = 'ready'
RETURN source, d.id AS document
