// The windows nearest to points, among those of the chunks that a report was made from.
// $corpus, $points: [{number, reports: [id of a community], vector}], $limit: windows of a point and report
// → number, report, window, score. A score is (1 + cosine) / 2
UNWIND $points AS point
UNWIND point.reports AS report
CALL (point, report) {
  MATCH (:Community {corpus: $corpus, id: report})-[:QUOTES]->(:Chunk)<-[:PART_OF]-(w:Window)
  RETURN w.id AS window, vector.similarity.cosine(w.embedding, point.vector) AS score
  ORDER BY round(score, 5) DESC, window
  LIMIT $limit
}
RETURN point.number AS number, report, window, score
