// Rename a conversation of a key. Returns no row if there is none.
// $key, $conversation, $title
// → found, turns
MATCH (c:E2GConversation {key: $key, id: $conversation})
SET c.title = $title
RETURN c {.id, .title, .corpora, .created, .updated} AS found, size(c.turns) AS turns
