// Remove what a corpus without documents leaves: summaries that were remembered for it alone, and which names were to be
// kept apart.
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
