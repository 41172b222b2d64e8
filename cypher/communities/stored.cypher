// The communities of a corpus that queries see, and the reports that are stored, also of communities that are outdated.
// $corpus
// → communities: [{id, sha256}], reports: [sha256]
CALL () {
  MATCH (c:Community {corpus: $corpus})
  WHERE c.id IS NOT NULL
  RETURN collect({id: c.id, sha256: c.sha256}) AS communities, collect(c.report_sha256) AS current
}
CALL () {
  MATCH (c:OutdatedCommunity {corpus: $corpus})
  RETURN collect(c.report_sha256) AS outdated
}
RETURN communities, current + outdated AS reports
