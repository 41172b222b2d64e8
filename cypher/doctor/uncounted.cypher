// Count the corpora with documents whose terms are not counted, because an earlier version indexed them.
// → corpora
MATCH (c:Corpus)
WHERE c.corpus IS NOT NULL AND c.adopts IS NULL AND c.windows > coalesce(c.term_windows, 0)
RETURN count(c) AS corpora
