// Delete a conversation of a key. Returns no row if there is none.
// $key, $conversation
// → deleted
MATCH (c:E2GConversation {key: $key, id: $conversation})
DELETE c
RETURN true AS deleted
