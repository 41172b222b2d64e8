// Read a conversation of a key.
// $key, $conversation
// → found, turns. `turns` are JSON.
MATCH (c:E2GConversation {key: $key, id: $conversation})
RETURN c {.id, .title, .corpora, .created, .updated} AS found, c.turns AS turns
