// Renew the claim on a task, and record its progress. Returns no row if the claim was lost.
// $task, $worker, $milliseconds, $stage, $done, $total, $tokens
// → cancel
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp()
WITH count(*) AS locked
MATCH (t:E2GTask {id: $task})
WHERE t.state = 'running' AND t.worker = $worker
SET t.expires = timestamp() + $milliseconds, t.updated = timestamp(), t.stage = $stage, t.done = $done,
    t.total = $total, t.tokens = $tokens
RETURN t.cancel AS cancel
