// Take the lock of the queue and create a task, if all of its parts are there. If a task has this id, or this key of
// idempotency, return that one instead. `mine` is null if parts are missing.
// $task, $kind, $corpus, $key, $parameters: JSON, $parts: how many blobs it has, $idempotency, $body_sha256
// → mine, result, task
// include: lock_queue
OPTIONAL MATCH (same:E2GTask {id: $task})
OPTIONAL MATCH (asked:E2GTask {idempotency: $idempotency})
WITH coalesce(same.id, asked.id) AS known,
     COUNT { MATCH (b:E2GBlob {task: $task}) WHERE b.file IS NOT NULL AND b.part IS NOT NULL } AS parts
FOREACH (once IN CASE WHEN known IS NULL AND parts = $parts THEN [1] ELSE [] END |
  CREATE (:E2GTask {
    id: $task, kind: $kind, corpus_name: $corpus, key: $key, parameters: $parameters, parts: $parts,
    idempotency: $idempotency, body_sha256: $body_sha256, state: 'queued', created: timestamp(),
    updated: timestamp(), attempt: 0, cancel: false, done: 0, total: 0, tokens: 0
  })
)
WITH coalesce(known, $task) AS id
OPTIONAL MATCH (t:E2GTask {id: id})
RETURN t.id = $task AS mine, t.result AS result,
  // include: task_state
  AS task
