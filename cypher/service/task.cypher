// Read a task.
// $task
// → task
MATCH (t:E2GTask {id: $task})
RETURN properties(t) AS task
