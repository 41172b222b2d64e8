// Store what the first attempt of a task found, and return what is stored. Returns no row if the claim was lost.
// $task, $worker, $found: JSON
// → found
// include: lock_queue
MATCH (t:E2GTask {id: $task})
WHERE t.state = 'running' AND t.worker = $worker
SET t.found = coalesce(t.found, $found)
RETURN t.found AS found
