// What API keys used today, UTC, with the tokens of tasks that have not ended, which usage has later. What a key used
// counts for its makers too.
// → key, requests, tokens
CALL () {
  MATCH (u:E2GUsage)
  WHERE u.day = toString(date({timezone: 'UTC'})) AND u.key IS NOT NULL
  RETURN u.key AS own, u.requests AS requests, u.prompt_tokens + u.completion_tokens AS tokens
  UNION ALL
  MATCH (t:E2GTask)
  WHERE t.state IN ['queued', 'running'] AND t.tokens > 0
  RETURN t.key AS own, 0 AS requests, t.tokens AS tokens
}
OPTIONAL MATCH (k:E2GKey {id: own})
UNWIND [own] + coalesce(k.makers, []) AS key
RETURN key, sum(requests) AS requests, sum(tokens) AS tokens
