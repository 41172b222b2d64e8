// End the tasks that lost their worker and are not to be tried again: they were cancelled, or this was the last attempt.
// What they cost is added to the usage of their keys, as tokens of prompts.
// $attempts: how many a task has, $error: JSON
// include: lock_queue
MATCH (t:E2GTask {state: 'running'})
WHERE t.expires < timestamp() AND (t.cancel OR t.attempt >= $attempts)
SET t.state = CASE WHEN t.cancel THEN 'cancelled' ELSE 'failed' END,
    t.error = CASE WHEN t.cancel THEN null ELSE $error END, t.ended = timestamp(), t.updated = timestamp()
REMOVE t.worker, t.expires
WITH t.key AS key, sum(t.tokens) AS tokens
WHERE key <> 'local' AND tokens > 0
WITH key, tokens
ORDER BY key // so that two writers cannot wait for each other
MERGE (u:E2GUsage {key: key, day: toString(date({timezone: 'UTC'}))})
SET u.requests = coalesce(u.requests, 0), u.prompt_tokens = coalesce(u.prompt_tokens, 0) + tokens,
    u.completion_tokens = coalesce(u.completion_tokens, 0)
