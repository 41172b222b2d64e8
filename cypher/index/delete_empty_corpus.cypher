// Remove what is left of a corpus without documents: summaries that are cached for it alone, and split names.
// $corpus
WITH $corpus AS corpus
WHERE NOT EXISTS { MATCH (d:Document {corpus: corpus}) WHERE d.id IS NOT NULL }
CALL (corpus) {
  MATCH (a:Alias {corpus: corpus})
  WHERE a.key IS NOT NULL
  DETACH DELETE a
}
MATCH (s:CachedSummary)
WHERE corpus IN s.corpora
SET s.corpora = [other IN s.corpora WHERE other <> corpus]
WITH s
WHERE s.corpora = []
DELETE s
