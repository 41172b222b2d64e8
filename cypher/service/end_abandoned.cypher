// End the tasks that lost their worker and are not to be tried again: they were cancelled, or this was the last attempt.
// $attempts: how many a task has, $error: JSON
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp()
WITH count(*) AS locked
MATCH (t:E2GTask {state: 'running'})
WHERE t.expires < timestamp() AND (t.cancel OR t.attempt >= $attempts)
SET t.state = CASE WHEN t.cancel THEN 'cancelled' ELSE 'failed' END,
    t.error = CASE WHEN t.cancel THEN null ELSE $error END, t.ended = timestamp(), t.updated = timestamp()
REMOVE t.worker, t.expires
