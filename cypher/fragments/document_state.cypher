// The state of documents. `ready`: the latest text is indexed; `pending`: the latest text is not indexed yet; `indexing`:
// a run is indexing it; `failed`: indexing failed, and `why`.
// ← d
// → state, why
WITH d, EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() } AS at_work
WITH d,
     CASE
       WHEN d.work IS NULL THEN d.state
       WHEN d.work = 'indexing' AND NOT at_work THEN 'failed'
       ELSE d.work
     END AS state,
     CASE
       WHEN d.work = 'indexing' AND NOT at_work THEN 'The run that was indexing it was ended before it was done.'
       ELSE d.error
     END AS why
