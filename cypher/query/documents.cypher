// The documents of a corpus, by title. `ready`: the latest text is indexed; `pending`: the latest text is not indexed
// yet; `indexing`: a run is indexing it; `failed`: indexing failed, and `why`. If `visible` is true in a state other
// than ready, queries see the previous version.
// $corpus
// → id, title, source, state, why, visible, chunks, characters, tokens, properties. properties: all of the node.
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
WITH d, EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() } AS at_work
RETURN d.id AS id, d.title AS title, d.source AS source,
       CASE
         WHEN d.work IS NULL THEN d.state
         WHEN d.work = 'indexing' AND NOT at_work THEN 'failed'
         ELSE d.work
       END AS state,
       CASE
         WHEN d.work = 'indexing' AND NOT at_work THEN 'The run that was indexing it was ended before it was done.'
         ELSE d.error
       END AS why,
       coalesce(d.state = 'ready', false) AS visible,
       COUNT { (d)<-[:FROM_DOCUMENT]-(:Chunk) } AS chunks,
       coalesce(d.characters, 0) AS characters, coalesce(d.tokens, 0) AS tokens,
       properties(d) AS properties
ORDER BY title, source
