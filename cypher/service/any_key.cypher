// Return one row if there is an API key, revoked and expired ones included, else none.
// → there
MATCH (:E2GKey)
RETURN true AS there
LIMIT 1
