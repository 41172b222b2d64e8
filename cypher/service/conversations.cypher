// List the conversations of a key, the last changed first, without their turns.
// $key, $limit
// → found, turns
MATCH (c:E2GConversation {key: $key})
WHERE c.id IS NOT NULL
WITH c
ORDER BY c.updated DESC, c.id
LIMIT $limit
RETURN c {.id, .title, .corpora, .created, .updated} AS found, size(c.turns) AS turns
ORDER BY found.updated DESC, found.id
