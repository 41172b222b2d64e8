// Count the imported nodes and relationships of a corpus.
// $corpus
// → nodes, relationships
MATCH (n:E2GImported {corpus: $corpus})
WHERE n.import_key IS NOT NULL
RETURN count(n) AS nodes, sum(COUNT { (n)-->() }) AS relationships
