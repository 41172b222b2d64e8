// Say that a run is at work, and until when it is if nothing more is heard of it. The clock is the database's.
// $corpus, $run, $milliseconds
MERGE (r:E2GRun {id: $run})
SET r.corpus = $corpus, r.expires = timestamp() + $milliseconds
