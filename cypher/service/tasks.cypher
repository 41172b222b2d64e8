// List tasks, the newest first, from behind a task on, without their results.
// $corpora: names, or prefixes that end in *, $keys: null for all, $states: null for all, $limit
// $created and $after: of the last task of the page before, null for the first page
// → task
MATCH (t:E2GTask)
WHERE t.created IS NOT NULL
  AND ($created IS NULL OR t.created < $created OR (t.created = $created AND t.id < $after))
  AND ($keys IS NULL OR t.key IN $keys)
  AND ($states IS NULL OR t.state IN $states)
  AND any(one IN $corpora WHERE
    t.corpus_name = one OR (one ENDS WITH '*' AND t.corpus_name STARTS WITH left(one, size(one) - 1)))
WITH t ORDER BY t.created DESC, t.id DESC LIMIT $limit
RETURN
  // include: task_state
  AS task
ORDER BY task.created DESC, task.id DESC
