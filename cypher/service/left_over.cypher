// Tasks with files or steps that nobody needs: the task has succeeded, or there is none and the last of them came a
// while ago.
// $age: in milliseconds, $limit
// → task
CALL () {
  MATCH (b:E2GBlob)
  WHERE b.task IS NOT NULL AND b.file IS NOT NULL AND b.part IS NOT NULL
  RETURN b.task AS task, max(b.created) AS last
  UNION ALL
  MATCH (s:E2GTaskStep)
  WHERE s.task IS NOT NULL AND s.step IS NOT NULL
  RETURN s.task AS task, 0 AS last
}
WITH task, max(last) AS last
OPTIONAL MATCH (t:E2GTask {id: task})
WITH task, last, t
WHERE t.state = 'succeeded' OR (t IS NULL AND last < timestamp() - $age)
RETURN task
LIMIT $limit
