// Read an API key, the keys that made it, and whether it can be used.
// $key
// → found, makers, valid
MATCH (k:E2GKey {id: $key})
WITH k, COLLECT { MATCH (m:E2GKey) WHERE m.id IN k.makers RETURN m } AS makers
RETURN properties(k) AS found, [m IN makers | properties(m)] AS makers,
       all(one IN [k] + makers WHERE one.revoked IS NULL) AND coalesce(k.expires > timestamp(), true) AS valid
