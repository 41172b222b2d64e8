// Sum the tokens that tasks have cost which have not ended. The usage of their keys does not have them yet.
// → key, tokens
MATCH (t:E2GTask)
WHERE t.state IN ['queued', 'running'] AND t.tokens > 0
RETURN t.key AS key, sum(t.tokens) AS tokens
