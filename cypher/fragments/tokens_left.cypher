// How many tokens the key of a task may still use today, null if that has no limit.
// ← t
// → left
OPTIONAL MATCH (k:E2GKey {id: t.key})
OPTIONAL MATCH (u:E2GUsage {key: t.key, day: toString(date({timezone: 'UTC'}))})
WITH t, k.tokens_per_day - coalesce(u.prompt_tokens, 0) - coalesce(u.completion_tokens, 0)
         - reduce(sum = 0, one IN COLLECT {
             MATCH (o:E2GTask)
             WHERE o.state IN ['queued', 'running'] AND o.key = t.key
             RETURN coalesce(o.tokens, 0)
           } | sum + one) AS left
