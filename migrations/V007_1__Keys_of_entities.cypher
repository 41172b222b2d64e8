// Entities that were indexed before keep what was their name as key, and as the only form that is known. `chunks` counts the
// visible chunks that mention them.

MATCH (e:Entity)
WHERE e.corpus IS NOT NULL AND e.name IS NOT NULL AND e.key IS NULL
OPTIONAL MATCH (e)-[m:FROM_CHUNK]->(:Chunk)
WITH e, count(m) AS chunks, sum(m.count) AS count
SET e.key = e.name, e.forms = [e.name], e.form_counts = [count], e.chunks = chunks;
