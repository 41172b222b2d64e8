// All corpora with the number of documents that can be searched.
// → corpus, documents
MATCH (d:Document)
WHERE d.corpus IS NOT NULL AND d.id IS NOT NULL
RETURN d.corpus AS corpus, sum(CASE d.state WHEN 'ready' THEN 1 ELSE 0 END) AS documents
ORDER BY corpus
