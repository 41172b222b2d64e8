// All corpora in the database with their sizes.
// → corpus, documents, chunks, summaries, entities, co_occurrences
MATCH (d:Document {state: 'ready'})
WHERE d.corpus IS NOT NULL
WITH d.corpus AS corpus, count(d) AS documents, sum(d.chunks) AS chunks ORDER BY corpus LIMIT 100
RETURN corpus, documents, chunks,
       COUNT { MATCH (s:Summary {corpus: corpus}) WHERE s.id IS NOT NULL } AS summaries,
       COUNT { MATCH (e:Entity {corpus: corpus}) WHERE e.key IS NOT NULL } AS entities,
       COUNT { MATCH (e:Entity {corpus: corpus})-[:CO_OCCURS]->() WHERE e.key IS NOT NULL } AS co_occurrences
ORDER BY corpus
