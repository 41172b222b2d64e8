// Cancel a task: one without a worker at once, a running one by asking its worker. An ended one stays as it is.
// What a task without a worker cost is added to the usage of its key, as tokens of prompts.
// $task
// → task, result
// include: lock_queue
MATCH (t:E2GTask {id: $task})
WITH t, t.state = 'queued' OR (t.state = 'running' AND t.expires < timestamp()) AS waiting
SET t.cancel = t.cancel OR t.ended IS NULL
WITH t, waiting
SET t.state = CASE WHEN waiting THEN 'cancelled' ELSE t.state END,
    t.ended = CASE WHEN waiting THEN timestamp() ELSE t.ended END,
    t.worker = CASE WHEN waiting THEN null ELSE t.worker END, t.updated = timestamp()
WITH t, waiting
CALL (t, waiting) {
  WITH t.key AS key, t.tokens AS tokens, waiting
  WHERE waiting AND key <> 'local' AND tokens > 0
  MERGE (u:E2GUsage {key: key, day: toString(date({timezone: 'UTC'}))})
  SET u.requests = coalesce(u.requests, 0), u.prompt_tokens = coalesce(u.prompt_tokens, 0) + tokens,
      u.completion_tokens = coalesce(u.completion_tokens, 0)
}
RETURN
  // include: task_state
  AS task, t.result AS result
