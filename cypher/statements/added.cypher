// At most $limit texts about which graph documents were added, in the order of their keys.
// $first: what all of their keys begin with, $after: a key, $limit
// → key, text
MATCH (s:CachedSummary)
WHERE s.key STARTS WITH $first AND s.key > $after
RETURN s.key AS key, s.text AS text
ORDER BY key LIMIT $limit
