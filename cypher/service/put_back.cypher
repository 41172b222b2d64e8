// Put a task back into the queue, as if this attempt had not been; one that was cancelled is ended. Returns no row if
// the claim was lost.
// $task, $worker
// → state
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp()
WITH count(*) AS locked
MATCH (t:E2GTask {id: $task})
WHERE t.state = 'running' AND t.worker = $worker
SET t.state = CASE WHEN t.cancel THEN 'cancelled' ELSE 'queued' END, t.updated = timestamp(),
    t.ended = CASE WHEN t.cancel THEN timestamp() ELSE null END, t.attempt = t.attempt - 1
REMOVE t.worker, t.expires, t.stage
RETURN t.state AS state
