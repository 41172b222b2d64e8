// Revoke an API key and those that it made, and delete their conversations. Returns no row if there is none.
// $key
// → found
MATCH (k:E2GKey {id: $key})
WITH k, [k] + COLLECT { MATCH (made:E2GKey) WHERE k.id IN made.makers RETURN made } AS all
FOREACH (one IN all | SET one.revoked = coalesce(one.revoked, timestamp()))
WITH k, [one IN all | one.id] AS ids
CALL (ids) {
  MATCH (c:E2GConversation)
  WHERE c.key IN ids AND c.id IS NOT NULL
  DELETE c
}
RETURN properties(k) AS found
