// Return one row if there is an API key that was not revoked, else none. An expired one counts: nobody chose to go
// without.
// → there
MATCH (k:E2GKey)
WHERE k.revoked IS NULL
RETURN true AS there
LIMIT 1
