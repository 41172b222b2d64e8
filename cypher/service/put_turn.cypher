// Take the lock of the queue, and keep a turn of a conversation: the first one begins the conversation, the next one is
// appended, and a known one with the same question is replaced. `refused` says why nothing was written, or is null.
// $key, $conversation, $number: of the turn, from 0, $turn: JSON, $same: what a turn with the same question begins with
// $title: of a new conversation, $corpora: of the turn, $most: conversations of a key, $most_turns, $most_characters
// → refused
// include: lock_queue
OPTIONAL MATCH (c:E2GConversation {key: $key, id: $conversation})
WITH c, coalesce(c.turns, []) AS turns,
     c IS NULL AND COUNT { MATCH (:E2GConversation {key: $key}) } >= $most AS many
WITH c, turns[..$number] + [$turn] + turns[$number + 1..] AS kept,
  CASE
    WHEN many THEN 'many'
    WHEN c IS NULL AND $number > 0 THEN 'gone'
    WHEN $number > size(turns) OR ($number < size(turns) AND NOT turns[$number] STARTS WITH $same) THEN 'changed'
    WHEN $number >= $most_turns THEN 'full'
  END AS refused
WITH kept, coalesce(
  refused,
  CASE WHEN reduce(length = 0, one IN kept | length + size(one)) > $most_characters THEN 'full' END
) AS refused
FOREACH (once IN CASE WHEN refused IS NULL THEN [1] ELSE [] END |
  MERGE (c:E2GConversation {key: $key, id: $conversation})
  ON CREATE SET c.title = $title, c.created = timestamp()
  SET c.turns = kept, c.updated = timestamp(),
      c.corpora = coalesce(c.corpora, []) + [one IN $corpora WHERE NOT one IN coalesce(c.corpora, [])]
)
RETURN refused
