// Revoke an API key and those that it made. Returns no row if there is none.
// $key
// → found
MATCH (k:E2GKey {id: $key})
WITH k, COLLECT { MATCH (made:E2GKey) WHERE k.id IN made.makers RETURN made } AS made
FOREACH (one IN [k] + made | SET one.revoked = coalesce(one.revoked, timestamp()))
RETURN properties(k) AS found
