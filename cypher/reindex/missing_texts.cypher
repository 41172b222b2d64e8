// At most $limit visible summaries, communities, clusters and statements that have no vector, in the order of their ids.
// `missing` is the number of all of them after $after, `version` a hash of the text if it may change under the same id.
// $corpus, $after: an id, $limit
// → label, id, text, version, missing
CALL () {
  MATCH (n:Summary {corpus: $corpus})
  WHERE n.id > $after AND (n.embedding IS NULL OR n.notes IS NOT NULL AND n.notes_of IS NULL)
  RETURN n, 'Summary' AS label, '' AS version
  UNION ALL
  MATCH (n:Community {corpus: $corpus})
  WHERE n.id > $after AND n.embedding IS NULL
  RETURN n, 'Community' AS label, n.report_sha256 AS version
  UNION ALL
  MATCH (n:Cluster {corpus: $corpus})
  WHERE n.id > $after AND n.embedding IS NULL
  RETURN n, 'Cluster' AS label, n.text_sha256 AS version
  UNION ALL
  MATCH (n:Statement {corpus: $corpus})
  WHERE n.id > $after AND n.embedding IS NULL
  RETURN n, 'Statement' AS label, '' AS version
}
WITH n, label, version ORDER BY n.id
WITH collect([n, label, version]) AS found
UNWIND found[..$limit] AS one
WITH one[0] AS n, one[1] AS label, one[2] AS version, size(found) AS missing
RETURN label, n.id AS id, CASE label WHEN 'Community' THEN n.title + '\n' + n.text ELSE n.text END AS text, version,
       missing
ORDER BY id
