// Put a failed or cancelled task back into the queue, with all its attempts, if its files are still there.
// $task
// → task, result
// include: lock_queue
MATCH (t:E2GTask {id: $task})
WHERE t.state IN ['failed', 'cancelled']
  AND t.parts = COUNT { MATCH (b:E2GBlob {task: t.id}) WHERE b.file IS NOT NULL AND b.part IS NOT NULL }
SET t.state = 'queued', t.attempt = 0, t.cancel = false, t.tokens = 0, t.updated = timestamp()
REMOVE t.error, t.ended, t.worker, t.expires, t.stage, t.found
RETURN
  // include: task_state
  AS task, t.result AS result
