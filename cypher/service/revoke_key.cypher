// Revoke an API key. Returns no row if there is none.
// $key
// → found
MATCH (k:E2GKey {id: $key})
SET k.revoked = coalesce(k.revoked, timestamp())
RETURN properties(k) AS found
