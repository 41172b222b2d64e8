// Record that this transaction does a step of a task. Returns one row if it was not done yet, else none.
// $task, $step
// → new
MERGE (s:E2GTaskStep {task: $task, step: $step})
ON CREATE SET s.new = true
WITH s, s.new AS new
WHERE new
REMOVE s.new
RETURN new
