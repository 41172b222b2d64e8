// The names that were merged by hand, of all corpora.
// → corpus, names: [[key, key of the other name]]
MATCH (a:Alias)
WHERE a.corpus IS NOT NULL AND a.key IS NOT NULL AND a.into IS NOT NULL
RETURN a.corpus AS corpus, collect([a.key, a.into]) AS names
ORDER BY corpus
