// Renew the claim on a task, and record its progress. Returns no row if the claim was lost.
// $task, $worker, $milliseconds, $stage, $done, $total, $tokens
// → cancel, left. `left` is how many tokens its key may still use today, null if that has no limit.
// include: lock_queue
MATCH (t:E2GTask {id: $task})
WHERE t.state = 'running' AND t.worker = $worker
SET t.expires = timestamp() + $milliseconds, t.updated = timestamp(), t.stage = $stage, t.done = $done,
    t.total = $total, t.tokens = $tokens
WITH t
// include: tokens_left
RETURN t.cancel AS cancel, left
