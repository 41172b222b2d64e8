// Return one row if a task waits for a worker, or has lost its worker, else none.
// → waiting
MATCH (t:E2GTask)
WHERE t.state IN ['queued', 'running'] AND (t.state = 'queued' OR t.expires < timestamp())
RETURN true AS waiting
LIMIT 1
