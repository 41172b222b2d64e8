// Remove what a corpus without documents leaves: summaries that were remembered for it alone.
// $corpus
MATCH (s:CachedSummary)
WHERE $corpus IN s.corpora
  AND NOT EXISTS { MATCH (d:Document {corpus: $corpus}) WHERE d.id IS NOT NULL }
SET s.corpora = [other IN s.corpora WHERE other <> $corpus]
WITH s
WHERE s.corpora = []
DELETE s
