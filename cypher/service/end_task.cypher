// End a task. Returns no row if the claim was lost. A request that is sent again, because its reply was lost, is
// accepted again.
// $task, $worker, $state, $result: JSON, $error: JSON, $tokens, $prompt_tokens, $completion_tokens, $cost
// → ended
// include: lock_queue
MATCH (t:E2GTask {id: $task})
WHERE t.state IN ['running', $state] AND t.worker = $worker
SET t.state = $state, t.result = $result, t.error = $error, t.tokens = $tokens, t.prompt_tokens = $prompt_tokens,
    t.completion_tokens = $completion_tokens, t.cost = $cost, t.ended = timestamp(), t.updated = timestamp()
REMOVE t.expires
RETURN true AS ended
