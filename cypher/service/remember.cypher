// Store what the first attempt of a task found, and return what is stored. Returns no row if the claim was lost.
// $task, $worker, $found: JSON
// → found
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp()
WITH count(*) AS locked
MATCH (t:E2GTask {id: $task})
WHERE t.state = 'running' AND t.worker = $worker
SET t.found = coalesce(t.found, $found)
RETURN t.found AS found
