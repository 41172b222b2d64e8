// List what was done, the latest first, from behind an entry on.
// $keys: null for all, $limit, $at and $after: of the last entry of the page before, null for the first page
// → id, at, key, action, corpus, target, status, request_id
MATCH (a:E2GAudit)
WHERE a.at IS NOT NULL
  AND ($at IS NULL OR a.at < $at OR (a.at = $at AND a.id < $after))
  AND ($keys IS NULL OR a.key IN $keys)
RETURN a.id AS id, a.at AS at, a.key AS key, a.action AS action, a.corpus_name AS corpus, a.target AS target,
       a.status AS status, a.request_id AS request_id
ORDER BY a.at DESC, a.id DESC
LIMIT $limit
