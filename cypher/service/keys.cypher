// List the API keys, the oldest first.
// → found
MATCH (k:E2GKey)
RETURN properties(k) AS found
ORDER BY k.created, k.id
