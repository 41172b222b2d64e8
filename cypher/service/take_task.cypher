// Take the lock of the queue and claim a task that is queued or has lost its worker: of the key with the fewest running
// tasks, together with those that it made; among those, of the key that was served longest ago; its oldest one. A claim that is sent again, because its
// reply was lost, gets the same task.
// $worker: the id of this claim, $milliseconds, $attempts: how many a task has
// → left, parameters, task. `left` is how many tokens its key may still use today, null if that has no limit. `parameters`
// is JSON.
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp(), q.turn = coalesce(q.turn, 0) + 1
WITH q.turn AS turn
CALL () {
  MATCH (t:E2GTask {state: 'running'})
  WHERE t.worker = $worker
  RETURN t, 0 AS counted
  UNION ALL
  MATCH (t:E2GTask)
  WHERE t.state IN ['queued', 'running']
    AND (t.state = 'queued' OR (t.expires < timestamp() AND t.attempt < $attempts AND NOT t.cancel))
  OPTIONAL MATCH (k:E2GKey {id: t.key})
  WITH coalesce(last(k.makers), t.key) AS key, min(t.created) AS oldest, collect(t) AS waiting
  WITH oldest, waiting, [key] + COLLECT { MATCH (f:E2GKey) WHERE last(f.makers) = key RETURN f.id } AS keys
  WITH oldest, waiting,
       COUNT { MATCH (r:E2GTask {state: 'running'}) WHERE r.key IN keys AND r.expires >= timestamp() } AS running,
       COLLECT {
         MATCH (s:E2GTask) WHERE s.key IN keys AND s.turn IS NOT NULL RETURN s.turn ORDER BY s.turn DESC LIMIT 1
       } AS served
  ORDER BY running, coalesce(head(served), 0), oldest
  LIMIT 1
  UNWIND waiting AS t
  WITH t
  ORDER BY t.created, t.id
  LIMIT 1
  RETURN t, 1 AS counted
}
WITH t, counted, turn
ORDER BY counted
LIMIT 1
SET t.state = 'running', t.worker = $worker, t.expires = timestamp() + $milliseconds, t.attempt = t.attempt + counted,
    t.turn = turn, t.started = timestamp(), t.updated = timestamp(), t.done = 0, t.total = 0
REMOVE t.stage
WITH t
// include: tokens_left
RETURN left, t.parameters AS parameters,
  // include: task_state
  AS task
