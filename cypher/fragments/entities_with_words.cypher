// The entities with a name that a query finds in the index of names, the most mentioned first, without common nouns: those
// whose name has as many words as the query, if there are any, else all.
// $corpus
// ← query, parts
// → called: [entity]
CALL db.index.fulltext.queryNodes('e2g_name_words', query, {limit: 1000}) YIELD node AS n
WHERE n.corpus = $corpus
MATCH (n)-[:ALIAS_OF*0..1]->(e:Entity)
WHERE e.chunks > 0 AND NOT coalesce(e.type = 'noun', false)
WITH e, max(size(split(n.key, ' ')) = size(parts)) AS whole ORDER BY e.chunks DESC, e.key
WITH collect(e) AS longer, collect(CASE WHEN whole THEN e END) AS whole
WITH CASE whole WHEN [] THEN longer ELSE whole END AS called
