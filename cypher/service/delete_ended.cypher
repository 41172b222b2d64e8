// Delete some tasks that ended a while ago.
// $age: in milliseconds, $limit
// → deleted
// include: lock_queue
MATCH (t:E2GTask)
WHERE t.ended < timestamp() - $age
WITH t
LIMIT $limit
DELETE t
RETURN count(*) AS deleted
