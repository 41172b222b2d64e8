// What API keys used on the last days, the latest first.
// $keys: null for all, $days: today included
// → key, day, requests, prompt_tokens, completion_tokens
WITH toString(date({timezone: 'UTC'}) - duration({days: $days - 1})) AS first
MATCH (u:E2GUsage)
WHERE u.day >= first AND u.key IS NOT NULL AND ($keys IS NULL OR u.key IN $keys)
RETURN u.key AS key, u.day AS day, u.requests AS requests, u.prompt_tokens AS prompt_tokens,
       u.completion_tokens AS completion_tokens
ORDER BY day DESC, key
