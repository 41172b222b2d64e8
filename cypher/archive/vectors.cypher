// Read the vectors of the reports of communities, the summaries of clusters, and statements, with the texts that were
// embedded.
// $corpus
// → text, vector
MATCH (n:Community|Cluster|Statement {corpus: $corpus})
WHERE n.id IS NOT NULL AND n.embedding IS NOT NULL
RETURN CASE WHEN n:Community THEN n.title + '\n' + n.text ELSE n.text END AS text, n.embedding AS vector
