// Cancel a task: one without a worker at once, a running one by asking its worker. An ended one stays as it is.
// $task
// → task
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp()
WITH count(*) AS locked
MATCH (t:E2GTask {id: $task})
WITH t, t.state = 'queued' OR (t.state = 'running' AND t.expires < timestamp()) AS waiting
SET t.cancel = t.cancel OR t.ended IS NULL
WITH t, waiting
SET t.state = CASE WHEN waiting THEN 'cancelled' ELSE t.state END,
    t.ended = CASE WHEN waiting THEN timestamp() ELSE t.ended END,
    t.worker = CASE WHEN waiting THEN null ELSE t.worker END, t.updated = timestamp()
RETURN properties(t) AS task
