// Renew the claim on a task, and record its progress. Returns no row if the claim was lost.
// $task, $worker, $milliseconds, $stage, $done, $total, $tokens
// → cancel, left. `left` is how many tokens its key may still use today, null if that has no limit.
// include: lock_queue
MATCH (t:E2GTask {id: $task})
WHERE t.state = 'running' AND t.worker = $worker
SET t.expires = timestamp() + $milliseconds, t.updated = timestamp(), t.stage = $stage, t.done = $done,
    t.total = $total, t.tokens = $tokens
WITH t
OPTIONAL MATCH (k:E2GKey {id: t.key})
OPTIONAL MATCH (u:E2GUsage {key: t.key, day: toString(date({timezone: 'UTC'}))})
RETURN t.cancel AS cancel,
       k.tokens_per_day - coalesce(u.prompt_tokens, 0) - coalesce(u.completion_tokens, 0)
         - reduce(sum = 0, one IN COLLECT {
             MATCH (o:E2GTask)
             WHERE o.state IN ['queued', 'running'] AND o.key = t.key
             RETURN coalesce(o.tokens, 0)
           } | sum + one) AS left
