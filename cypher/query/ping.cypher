// Nothing: a transaction that waits for its bookmarks.
// → one
RETURN 1 AS one
