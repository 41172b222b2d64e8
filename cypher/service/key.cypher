// Read an API key, and whether it can be used.
// $key
// → found, valid
MATCH (k:E2GKey {id: $key})
RETURN properties(k) AS found, k.revoked IS NULL AND coalesce(k.expires > timestamp(), true) AS valid
