// Count the relationships between imported nodes of a corpus.
// $corpus
// → relationships
MATCH (n:E2GImported {corpus: $corpus})
WHERE n.import_key IS NOT NULL
RETURN sum(COUNT { (n)-->() }) AS relationships
