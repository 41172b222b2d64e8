// The vectors of stored reports.
// $corpus, $reports: [sha256]
// → report, embedding
CALL () {
  MATCH (c:Community {corpus: $corpus}) WHERE c.id IS NOT NULL RETURN c
  UNION ALL
  MATCH (c:OutdatedCommunity {corpus: $corpus}) RETURN c
}
WITH c WHERE c.report_sha256 IN $reports
RETURN c.report_sha256 AS report, head(collect(c.embedding)) AS embedding
