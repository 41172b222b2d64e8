// Read a task.
// $task
// → task, result
MATCH (t:E2GTask {id: $task})
RETURN
  // include: task_state
  AS task, t.result AS result
