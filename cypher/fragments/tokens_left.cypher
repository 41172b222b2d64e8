// How many tokens the key of a task may still use today, null if that has no limit. Its makers' limits are its own, and
// what a key has made counts for it.
// ← t
// → left
CALL (t) {
  OPTIONAL MATCH (own:E2GKey {id: t.key})
  UNWIND [t.key] + coalesce(own.makers, []) AS one
  MATCH (k:E2GKey {id: one})
  WHERE k.tokens_per_day IS NOT NULL
  WITH k, COLLECT { MATCH (f:E2GKey) WHERE f = k OR k.id IN f.makers RETURN f.id } AS keys
  WITH k, COLLECT {
         MATCH (u:E2GUsage)
         WHERE u.key IN keys AND u.day = toString(date({timezone: 'UTC'}))
         RETURN coalesce(u.prompt_tokens, 0) + coalesce(u.completion_tokens, 0)
       } + COLLECT {
         MATCH (o:E2GTask)
         WHERE o.state IN ['queued', 'running'] AND o.key IN keys
         RETURN coalesce(o.tokens, 0)
       } AS used
  RETURN min(k.tokens_per_day - reduce(sum = 0, one IN used | sum + one)) AS left
}
