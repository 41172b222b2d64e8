// The number of tasks in each state, and the age of the oldest of them in milliseconds.
// → state, tasks, age
MATCH (t:E2GTask)
RETURN t.state AS state, count(*) AS tasks, timestamp() - min(t.created) AS age
