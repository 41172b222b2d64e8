// Put a task back into the queue, as if this attempt had not been; one that was cancelled is ended. Returns no row if
// the claim was lost.
// What a task cost that has ended is added to the usage of its key, as tokens of prompts.
// $task, $worker, $tokens: of all attempts
// → state
// include: lock_queue
MATCH (t:E2GTask {id: $task})
WHERE t.state = 'running' AND t.worker = $worker
SET t.state = CASE WHEN t.cancel THEN 'cancelled' ELSE 'queued' END, t.updated = timestamp(),
    t.ended = CASE WHEN t.cancel THEN timestamp() ELSE null END, t.attempt = t.attempt - 1,
    t.tokens = CASE WHEN $tokens > t.tokens THEN $tokens ELSE t.tokens END
REMOVE t.worker, t.expires, t.stage
WITH t
CALL (t) {
  WITH t.key AS key, t.tokens AS tokens, t.state AS state
  WHERE state = 'cancelled' AND key <> 'local' AND tokens > 0
  MERGE (u:E2GUsage {key: key, day: toString(date({timezone: 'UTC'}))})
  SET u.requests = coalesce(u.requests, 0), u.prompt_tokens = coalesce(u.prompt_tokens, 0) + tokens,
      u.completion_tokens = coalesce(u.completion_tokens, 0)
}
RETURN t.state AS state
