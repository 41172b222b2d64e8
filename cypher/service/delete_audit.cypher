// Delete some old entries of the audit log.
// $age: in milliseconds, $limit
// → deleted
MATCH (a:E2GAudit)
WHERE a.at < timestamp() - $age
WITH a
LIMIT $limit
DELETE a
RETURN count(*) AS deleted
