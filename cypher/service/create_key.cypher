// Create an API key. Returns no row if it would have expired.
// $key, $name, $sha256, $scopes, $corpora, $expires, $requests_per_minute, $requests_per_day, $tokens_per_minute,
// $tokens_per_day, $makers: ids of who made it, of who made that one, and so on
// → found
WITH $expires AS expires
WHERE expires IS NULL OR expires > timestamp()
MERGE (k:E2GKey {id: $key})
ON CREATE SET k.created = timestamp()
SET k.name = $name, k.sha256 = $sha256, k.scopes = $scopes, k.corpora = $corpora, k.expires = expires,
    k.makers = $makers,
    k.requests_per_minute = $requests_per_minute, k.requests_per_day = $requests_per_day,
    k.tokens_per_minute = $tokens_per_minute, k.tokens_per_day = $tokens_per_day
RETURN properties(k) AS found
