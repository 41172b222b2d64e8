// Add to what API keys used today, UTC.
// $rows: [{key, requests, prompt_tokens, completion_tokens}]
WITH toString(date({timezone: 'UTC'})) AS day
UNWIND $rows AS row
MERGE (u:E2GUsage {key: row.key, day: day})
SET u.requests = coalesce(u.requests, 0) + row.requests,
    u.prompt_tokens = coalesce(u.prompt_tokens, 0) + row.prompt_tokens,
    u.completion_tokens = coalesce(u.completion_tokens, 0) + row.completion_tokens
