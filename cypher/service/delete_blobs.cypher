// Delete some of the files of a task that has succeeded or was not created, and the record of its steps.
// $task, $limit
// → deleted
// include: lock_queue
WHERE NOT EXISTS { MATCH (t:E2GTask {id: $task}) WHERE t.state <> 'succeeded' }
CALL () {
  MATCH (s:E2GTaskStep {task: $task})
  WHERE s.step IS NOT NULL
  DELETE s
}
CALL () {
  MATCH (b:E2GBlob {task: $task})
  WHERE b.file IS NOT NULL AND b.part IS NOT NULL
  WITH b
  LIMIT $limit
  DELETE b
  RETURN count(*) AS deleted
}
RETURN deleted
