// Renew the lease of a run. The expiry time is by the clock of the database.
// $corpus, $run, $milliseconds
MERGE (r:E2GRun {id: $run})
SET r.corpus = $corpus, r.expires = timestamp() + $milliseconds
