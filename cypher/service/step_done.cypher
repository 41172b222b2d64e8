// Return one row if a step of a task was done, else none.
// $task, $step
// → done
MATCH (s:E2GTaskStep {task: $task, step: $step})
RETURN true AS done
