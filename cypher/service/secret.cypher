// Return the secret with which the service signs bookmarks. The first call makes it.
// $secret
// → secret
MERGE (q:E2GQueue {id: 'queue'})
SET q.bookmark_secret = coalesce(q.bookmark_secret, $secret)
RETURN q.bookmark_secret AS secret
