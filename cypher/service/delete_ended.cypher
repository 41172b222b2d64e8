// Delete some tasks that ended a while ago.
// $age: in milliseconds, $limit
// → deleted
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp()
WITH count(*) AS locked
MATCH (t:E2GTask)
WHERE t.ended < timestamp() - $age
WITH t
LIMIT $limit
DELETE t
RETURN count(*) AS deleted
